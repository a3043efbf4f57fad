/** What the first screen does not need, in one file that is loaded after it. */
export { CardView } from "./card/card-view.tsx";
export { OpenedLogView } from "./task/opened-log-view.tsx";
export { FollowedTaskView } from "./task/task-view.tsx";
export { TasksView } from "./tasks/tasks-view.tsx";
export { WiresView } from "./wires/wires-view.tsx";
