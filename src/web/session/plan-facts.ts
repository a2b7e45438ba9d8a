import type { PlanReading } from '../../markdown/plan-steps.ts'
import { counted } from '../../model/amounts.ts'

const WORDS_PER_MINUTE = 220

/** What to expect before reading a plan: `Runbook · 40 steps · 412 lines · about 6 min to read`. */
export function planFacts(plan: string, { steps, isRunbook }: PlanReading): string {
  const words = plan.match(/\S+/g)?.length ?? 0
  const minutes = Math.max(1, Math.round(words / WORDS_PER_MINUTE))
  return [
    isRunbook ? 'Runbook' : 'Prose',
    ...(steps.length > 0 ? [counted(steps.length, 'step')] : []),
    counted(plan.split('\n').length, 'line'),
    `about ${minutes} min to read`,
  ].join(' · ')
}
