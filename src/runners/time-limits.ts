/** How long sessions wait, in milliseconds, mostly for the programs of a run. */
export interface TimeLimits {
  /** Between SIGTERM and SIGKILL, for the process group of a step or an agent. */
  terminate: number
  /** For remaining output after a process exits. */
  drain: number
  /** Between SIGTERM and SIGKILL, for what a run left behind. */
  endRun: number
  /** The same for an abandoned run: its step already had its grace period, and an operator is waiting. */
  endAbandoned: number
  /** The same at a start after a crash: the service should answer within 2 s. */
  endCrashed: number
  /** For a planning agent that was told to stop: cancel, SIGTERM, SIGKILL, and cleanup. Planning then ends without it. */
  endPlanning: number
  /** For an abandoned session to record its end: longer than ending it and collecting the evidence should take. */
  recordEnd: number
  /** For the search for similar cases, else the prompt has none. Building the index of 10,000 cases takes seconds. */
  similarCases: number
  /** Between a person's save of a file and a write of the service to its case: they may save again. */
  handEdit: number
  /** For an editor to begin a save into a file that a write has just replaced. */
  lateSave: number
  /** Without a change, before `index.md` is written. */
  indexFile: number
  /** For the decision on a plan, where the agent's terminal takes no key while its hook waits. */
  planHold: number
  /** For the person to resume a conversation with an agent in a terminal, before its session ends. */
  resume: number

  // of the Agent Client Protocol
  initialize: number
  /** For a new or resumed session. */
  session: number
  /** For the answer to a change of mode, and then for a report of the new mode. */
  mode: number
  modeReport: number
  /** For the end of an agent's turn after a cancel. */
  cancel: number
  /** For an agent's exit after its input is closed. */
  exit: number
}

export const TIME_LIMITS: TimeLimits = {
  terminate: 2_000,
  drain: 250,
  endRun: 1_500,
  endAbandoned: 500,
  endCrashed: 800,
  endPlanning: 20_000,
  recordEnd: 25_000,
  similarCases: 20_000,
  handEdit: 2_000,
  lateSave: 500,
  indexFile: 30_000,
  planHold: 60_000,
  resume: 120_000,
  initialize: 30_000,
  session: 60_000,
  mode: 30_000,
  modeReport: 5_000,
  cancel: 5_000,
  exit: 4_000,
}
