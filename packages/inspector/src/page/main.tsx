import { render } from "preact";
import { App } from "./app.tsx";
import { connect } from "./session/session.ts";
import "./style/style.css";

const place = document.querySelector("#page");
if (place === null) throw new Error("the page has no place for the inspector");
render(<App />, place);
void connect();
