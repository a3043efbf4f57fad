// One name for the package that most projects need: nothing is added to it here.
export * from "@a2a-connect/node";
