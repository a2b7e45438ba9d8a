import type { PlanReading } from '../../markdown/plan-steps.ts'
import { renderEverything, renderMarkdown } from '../../rendering/markdown/markdown.ts'

export interface RenderedPlan {
  hypothesisHtml: string | null
  planHtml: string | null
  /** Words of the plan that its HTML does not show. */
  planHidden: string[]
}

/**
 * Hypothesis and plan as HTML that is safe; null where they are too complex, or not asked for. No id of the
 * page begins as theirs do: a heading must not pass for a part of the page.
 */
export async function renderedPlan(
  { hypothesis, plan }: { hypothesis: string; plan: string },
  { steps }: PlanReading,
  view: string,
  base: string,
): Promise<RenderedPlan> {
  const shaped = (idPrefix: string) => ({ base, headingShift: 2, idPrefix })
  const marked = steps.map(({ script: _, ...step }) => step)
  const whole =
    view === 'rendered' && plan !== ''
      ? await renderEverything(plan, { ...shaped('text-plan-'), steps: marked })
      : null
  return {
    hypothesisHtml:
      hypothesis === '' ? null : await renderMarkdown(hypothesis, shaped('text-hypothesis-')),
    planHtml: whole?.html ?? null,
    planHidden: whole?.hidden ?? [],
  }
}
