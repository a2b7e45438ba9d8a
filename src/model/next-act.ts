/** What can come next for a case. Console, terminal and MCP render the same value as a button, a command or a sentence. */

export const ACTS = [
  'review_plan',
  'edit_plan',
  'trust',
  'watch',
  'answer',
  'fix',
  'plan',
  'plan_again',
  'run_tests',
  'edit_runbook',
  'set_up',
  'use_terminal',
  'attach',
  'attach_file',
  'verify',
  'accept',
  'apply',
  'resolve',
] as const

export type Act = (typeof ACTS)[number]

export interface Action {
  act: Act
  /** In the words of a button. */
  label: string
  /** The number of the session concerned. */
  session: number | null
  /** The file of a session to attach. */
  artifact: string | null
  /** The id of a proof. */
  proof: string | null
  /** The type of the proof to attach. */
  proof_type: string | null
}

/** Where a case or a session is, and the one thing that comes next. */
export interface Status {
  headline: string
  /** Why, or what that means; may be empty. */
  detail: string
  /** Null if nothing is left, or if it is not the operator's turn. */
  next: Action | null
  /** The number of the session that the headline is about. */
  session: number | null
  tone: 'info' | 'warn' | 'bad' | 'good'
}

const LABELS: Record<Exclude<Act, 'attach'>, string> = {
  review_plan: 'Review the plan',
  edit_plan: 'Edit the plan',
  trust: 'Review what is not trusted',
  watch: 'Watch',
  answer: 'Answer',
  fix: 'See the problem',
  plan: 'Plan this case',
  plan_again: 'Plan again',
  run_tests: 'Run the tests',
  edit_runbook: 'Edit runbook.md',
  set_up: 'Set up an agent',
  use_terminal: 'Make it current',
  attach_file: 'Attach proof',
  verify: 'Read and verify',
  accept: 'Read, and accept with a reason',
  apply: 'Apply the work',
  resolve: 'Resolve',
}

type About = Partial<Omit<Action, 'act' | 'label'>>

export function nextAct(act: Exclude<Act, 'attach'>, about: About = {}): Action {
  return { act, label: LABELS[act], ...NOTHING, ...about }
}

const NOTHING = { session: null, artifact: null, proof: null, proof_type: null }

/** `items`: the checklist items that proof of this file would meet. */
export function attachAct(
  { artifact, session, type }: { artifact: string; session: number; type: string },
  items: readonly string[],
): Action {
  const label = `Attach ${artifact} as ${quoted(items)}`
  return { act: 'attach', label, ...NOTHING, session, artifact, proof_type: type }
}

export function quoted(items: readonly string[]): string {
  return items.map((item) => JSON.stringify(item)).join(', ')
}
