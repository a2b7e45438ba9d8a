/** The prompt asks the agent to put its plan between these marks. */
export const PLAN_MARKS = { begin: '<!-- casefile:plan -->', end: '<!-- /casefile:plan -->' }
