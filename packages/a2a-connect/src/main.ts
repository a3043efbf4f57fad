#!/usr/bin/env node
// npm links the commands of direct dependencies only, so the command of @a2a-connect/cli has a link here.
import "@a2a-connect/cli/main";
