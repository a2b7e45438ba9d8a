/** A plan of the scripted agent, and the edits that carry it out. */
export interface ScriptedPlan {
  hypothesis: string
  steps: readonly string[]
  /** Texts in the source file, each with its replacement. */
  edits: readonly (readonly [from: string, to: string])[]
  /** What the agent says when it is done. */
  done: string
}

/** The only file that the scripted agent reads and edits. */
export const SOURCE_FILE = 'src/token.js'

const ISSUED_IN_SECONDS = 'const issuedAt = Math.floor(clock() / 1000)'
const ISSUED_IN_MILLISECONDS = 'const issuedAt = clock()'
const UNITS_MIXED = 'return claims.exp <= now\n'
const OFF_BY_ONE = 'return claims.exp < Math.floor(now / 1000)\n'
const FIXED = 'return claims.exp <= Math.floor(now / 1000)\n'

const UNITS =
  '`exp` in a token counts seconds, and the clock counts milliseconds.\nThe clock is always ahead, so every token has expired at once.'

/** Changes what a token says. The operator of the demo sends it back. */
export const HASTY: ScriptedPlan = {
  hypothesis: UNITS,
  steps: [
    'Let `issueToken` write `iat` and `exp` in milliseconds.',
    'Leave `hasExpired` as it is: both sides are milliseconds then.',
  ],
  edits: [[ISSUED_IN_SECONDS, ISSUED_IN_MILLISECONDS]],
  done: 'Tokens are in milliseconds now.',
}

/** Has the units right, and the last second wrong: two tests fail. */
export const OFF_BY_ONE_SECOND: ScriptedPlan = {
  hypothesis: UNITS,
  steps: [
    'Leave `issueToken` as it is: `iat` and `exp` stay in seconds.',
    'Let `hasExpired` compare seconds: `exp < Math.floor(now / 1000)`.',
  ],
  edits: [[UNITS_MIXED, OFF_BY_ONE]],
  done: 'Seconds are compared with seconds now.',
}

/** Fixes what the second plan left wrong. */
const LAST_SECOND: ScriptedPlan = {
  hypothesis:
    'The units are right now, but a token is still accepted in the second\nin which its lifetime ends.',
  steps: ['Let `hasExpired` compare with `<=` instead of `<`.'],
  edits: [[OFF_BY_ONE, FIXED]],
  done: 'A token expires with the last second of its lifetime now.',
}

/** Fixes what the first plan left wrong, if the operator approved it. */
const SECONDS_AGAIN: ScriptedPlan = {
  hypothesis: 'A token must say seconds, so the clock has to be converted instead.',
  steps: [
    'Let `issueToken` write seconds again.',
    'Let `hasExpired` compare seconds: `exp <= Math.floor(now / 1000)`.',
  ],
  edits: [
    [ISSUED_IN_MILLISECONDS, ISSUED_IN_SECONDS],
    [UNITS_MIXED, FIXED],
  ],
  done: 'Seconds are compared with seconds now.',
}

const PLANS = [HASTY, OFF_BY_ONE_SECOND, LAST_SECOND, SECONDS_AGAIN]

/** The plan for the file as it is; `isSentBack` if the operator wants another plan than the first. */
export function choosePlan(source: string, isSentBack: boolean): ScriptedPlan {
  if (source.includes(ISSUED_IN_MILLISECONDS)) return SECONDS_AGAIN
  if (source.includes(OFF_BY_ONE)) return LAST_SECOND
  return isSentBack ? OFF_BY_ONE_SECOND : HASTY
}

/** The approved plan, which comes first in the agent's prompt; undefined if somebody has rewritten it. */
export function findPlan(prompt: string): ScriptedPlan | undefined {
  const found = PLANS.map((plan) => ({ plan, at: prompt.indexOf(stepList(plan)) }))
  return found.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at)[0]?.plan
}

/** The plan in markdown. Casefile runs its step `test` itself, so the result does not depend on the agent's word. */
export function planText(plan: ScriptedPlan): string {
  return `## Hypothesis

${plan.hypothesis}

## Plan

${stepList(plan)}

Then Casefile runs every test:

\`\`\`sh run id=test timeout=1m proof=tap
npm test --silent
\`\`\`
`
}

function stepList({ steps }: ScriptedPlan): string {
  return steps.map((step, index) => `${index + 1}. ${step}`).join('\n')
}
