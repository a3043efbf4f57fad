/** What a project is called in all the places where its name stands. */
export interface ProjectName {
  /** Of the package and its directory: `table-booker`. */
  readonly name: string;
  /** Of the agent, for people: `Table booker`. */
  readonly title: string;
}

/** Text files by their path inside a project. */
export type ProjectFiles = ReadonlyMap<string, string>;

/** The two files that differ with the kind of executor, and what there is to try. */
export interface AgentTemplate {
  readonly agent: string;
  readonly test: string;
  /** A message to begin with. */
  readonly example: string;
  /** What the agent does, in one sentence. */
  readonly summary: string;
}

/** How a project is made. */
export interface ProjectOptions {
  readonly name: ProjectName;
  /** Of this command, and so of all packages of a2a-connect. */
  readonly version: string;
}

/** A project that works: an agent, its test, and what both need. */
export function projectFiles(options: ProjectOptions, template: AgentTemplate): ProjectFiles {
  return new Map([
    ["package.json", packageJson(options)],
    ["tsconfig.json", tsconfig],
    [".gitignore", gitignore],
    ["README.md", readme(options, template)],
    ["agent.ts", template.agent],
    ["agent.test.ts", template.test],
  ]);
}

function packageJson({ name, version }: ProjectOptions): string {
  const own = `^${version}`;
  const manifest = {
    name: name.name,
    version: "0.1.0",
    private: true,
    type: "module",
    engines: { node: ">=22.18" },
    scripts: {
      start: "a2a serve agent.ts",
      dev: "a2a serve agent.ts --watch",
      test: "vitest run",
      types: "tsc",
    },
    dependencies: {
      "@a2a-connect/cli": own,
      "@a2a-connect/server": own,
    },
    devDependencies: {
      "@a2a-connect/client": own,
      "@a2a-connect/node": own,
      "@types/node": "^24.0.0",
      typescript: "^7.0.0",
      vitest: "^5.0.0",
    },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

const tsconfig = `{
  "compilerOptions": {
    "target": "esnext",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "exactOptionalPropertyTypes": true,
    "verbatimModuleSyntax": true,
    "erasableSyntaxOnly": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true,
    "noEmit": true
  },
  "include": ["*.ts"]
}
`;

const gitignore = `node_modules/
.a2a/
.env
`;

function readme({ name }: ProjectOptions, { example, summary }: AgentTemplate): string {
  return `# ${name.title}

${summary}

\`\`\`sh
npm install
npm test         # agent.test.ts
npm run dev      # serves agent.ts on http://localhost:4000, again after every change
\`\`\`

In another terminal:

\`\`\`sh
npx a2a send -a http://localhost:4000 "${example}"
npx a2a chat -a http://localhost:4000
npx a2a doctor http://localhost:4000
\`\`\`

Tasks are kept in \`.a2a/\`.
`;
}
