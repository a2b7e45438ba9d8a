export const STEP_LANGUAGES = ['sh', 'bash', 'js'] as const
export type StepLanguage = (typeof STEP_LANGUAGES)[number]
export const STEP_PROOFS = ['tap', 'junit', 'go', 'log'] as const
export type StepProof = (typeof STEP_PROOFS)[number]

/** One fence marked `run` of a plan: what will be executed, once the plan is approved. */
export interface PlanStep {
  id: string
  language: StepLanguage
  script: string
  /** Null: the workspace's limit for a step. */
  timeoutMs: number | null
  /** Relative to the working folder, inside it. */
  cwd: string
  /** Exit codes with which the run goes on. */
  expect: number[]
  /** Go on after an unexpected exit too. */
  continue: boolean
  proof: StepProof | null
  /** 1-based line of the fence in the plan. */
  line: number
}

export interface StepError {
  line: number
  message: string
}
