import type { AttentionKind } from '../../model/attention.ts'
import type { CaseState } from '../../model/case-state.ts'

/** What a case needs, in two words; none of them is the word of a state. */
export const ATTENTION_WORDS: Record<AttentionKind, string> = {
  plan: 'Plan waiting',
  problem: 'Problem',
  blocked: 'Stuck',
  failed: 'Failed',
  proof: 'Evidence',
  gate_open: 'Proof complete',
  running: 'Running',
}

/** How a row shows it: a case that is blocked by a question to the operator asks. */
export type ShownKind = AttentionKind | 'question'

export function shownKind(kind: AttentionKind, state: CaseState): ShownKind {
  return kind === 'blocked' && state === 'NEEDS_USER_INPUT' ? 'question' : kind
}

export function shownWords(kind: ShownKind): string {
  return kind === 'question' ? 'Question' : ATTENTION_WORDS[kind]
}
