import { CardView } from "./card/card-view.tsx";
import { OpenedLogView } from "./task/opened-log-view.tsx";
import { FollowedTaskView } from "./task/task-view.tsx";
import { TasksView } from "./tasks/tasks-view.tsx";
import { WiresView } from "./wires/wires-view.tsx";

/** The views that the first screen does not need. */
export interface LaterViews {
  readonly CardView: typeof CardView;
  readonly FollowedTaskView: typeof FollowedTaskView;
  readonly OpenedLogView: typeof OpenedLogView;
  readonly TasksView: typeof TasksView;
  readonly WiresView: typeof WiresView;
}

/** They are in one file, which is loaded after the first screen. */
export const laterViews: LaterViews = { CardView, FollowedTaskView, OpenedLogView, TasksView, WiresView };
