import type { CaseState } from './case-state.ts'
import type { Tone } from './state-groups.ts'

/** Formats an outcome for people: `ConfirmedCodeBug` becomes "Confirmed code bug". Other text stays unchanged. */
export function outcomeLabel(outcome: string): string {
  if (outcome === 'WontFix') return 'Won’t fix'
  if (!/^[A-Z][a-z]+(?:[A-Z][a-z]+)*$/.test(outcome)) return outcome
  const words = outcome.replace(/(?!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words
}

/** What an outcome means to the reporter of the case; pages and terminal map it to a colour. */
export function outcomeTone(outcome: string): Tone {
  if (/^(Confirmed|FeatureShipped)/.test(outcome)) return 'good'
  if (/^Needs/.test(outcome)) return 'warn'
  return 'muted'
}

/** How a case can be closed, in plain words. */
export interface Ending {
  /** As an option of a command has it. */
  word: string
  label: string
  state: CaseState
  outcome: string
}

const BUILT: readonly string[] = ['feature', 'refactor', 'epic', 'greenfield']

/** The usual endings of a case of this type. Only `fixed` needs proof. */
export function usualEndings(caseType: string): Ending[] {
  const fixed = BUILT.includes(caseType) ? 'FeatureShipped' : 'ConfirmedCodeBug'
  return [
    { word: 'fixed', label: 'Fixed', state: 'RESOLVED', outcome: fixed },
    { word: 'wont-fix', label: 'Won’t fix', state: 'WONT_FIX', outcome: 'WontFix' },
    { word: 'duplicate', label: 'Duplicate', state: 'NON_ISSUE', outcome: 'Duplicate' },
    { word: 'not-a-bug', label: 'Not a bug', state: 'NON_ISSUE', outcome: 'IntendedBehavior' },
  ]
}
