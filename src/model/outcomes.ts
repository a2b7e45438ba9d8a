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
