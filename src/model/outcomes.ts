import type { Tone } from './state-groups.ts'

/** An outcome as people read it: `ConfirmedCodeBug` is "Confirmed code bug". Any other text stays as it is. */
export function outcomeLabel(outcome: string): string {
  if (outcome === 'WontFix') return 'Won’t fix'
  if (!/^[A-Z][a-z]+(?:[A-Z][a-z]+)*$/.test(outcome)) return outcome
  const words = outcome.replace(/(?!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words
}

/** What an outcome means for whoever reported the case; the page and the terminal choose the colour. */
export function outcomeTone(outcome: string): Tone {
  if (/^(Confirmed|FeatureShipped)/.test(outcome)) return 'good'
  if (/^Needs/.test(outcome)) return 'warn'
  return 'muted'
}
