/** Between these the prompt asks an agent to put its plan, apart from whatever else it says. */
export const PLAN_MARKS = { begin: '<!-- casefile:plan -->', end: '<!-- /casefile:plan -->' }
