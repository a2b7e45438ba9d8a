import { spanText } from '../../model/amounts.ts'
import type { StepRow, StepState } from '../../model/step-rows.ts'
import type { Heading } from '../../rendering/markdown/options.ts'
import { stepFacts } from '../../rendering/markdown/step-figure.ts'
import type { SessionPageData } from './data.ts'

export const STEP_STATES: Record<StepState, { word: string; sign: string }> = {
  will_run: { word: 'will run', sign: '○' },
  running: { word: 'running', sign: '▶' },
  ok: { word: 'ok', sign: '✓' },
  failed: { word: 'failed', sign: '✗' },
  interrupted: { word: 'stopped', sign: '✗' },
  not_run: { word: 'not run', sign: '–' },
}

/** A longer list has a scrollbar of its own, so it must be reachable by keyboard. */
const MAX_WITHOUT_SCROLLING = 5

/**
 * The steps with their results and times; the runs that wrote the plan are listed separately. While the plan waits it is
 * the outline of the plan, with its headings, and client/plan-outline.ts marks where the reader is.
 */
export function StepList({ data }: { data: SessionPageData }) {
  const { rows, planHeadings, session } = data
  const isOutline = session.state === 'plan_ready' && data.query.view === 'rendered'
  const planning = rows.filter(({ isPlanning }) => isPlanning)
  const work = rows.filter(({ isPlanning }) => !isPlanning)
  const headings = isOutline ? planHeadings : []
  if (rows.length === 0 && headings.length === 0) return null
  const placed = [
    ...headings.map((heading) => ({ line: heading.line, heading, row: null })),
    ...work.map((row) => ({ line: row.plan?.line ?? 0, heading: null, row })),
  ]
  if (isOutline) placed.sort((a, b) => a.line - b.line)
  return (
    <section class="card" id="steps" aria-labelledby="steps-title">
      <header>
        <h2 id="steps-title">{isOutline ? 'Outline' : 'Steps'}</h2>
        {work.length > 0 && <span class="muted small">{countText(data, work)}</span>}
      </header>
      {placed.length > 0 && (
        <ol
          class="steps stack"
          id="step-rows"
          tabindex={placed.length > MAX_WITHOUT_SCROLLING ? 0 : undefined}
          aria-labelledby="steps-title"
        >
          {placed.map(({ heading, row }) =>
            row ? (
              <StepItem
                row={row}
                id={`row-${work.indexOf(row) + 1}`}
                hasPlan={data.query.view !== 'diff'}
                isShort={isOutline}
                number={
                  isOutline ? data.plan.steps.findIndex(({ id }) => id === row.plan?.id) + 1 : 0
                }
              />
            ) : (
              <HeadingItem heading={heading!} />
            ),
          )}
        </ol>
      )}
      {planning.length > 0 && (
        <div class="planning-runs stack">
          <h3 class="small muted" id="planning-title">
            Before approval
          </h3>
          <ol
            class="steps stack"
            id="planning-rows"
            tabindex={planning.length > MAX_WITHOUT_SCROLLING ? 0 : undefined}
            aria-labelledby="planning-title"
          >
            {planning.map((row, index) => (
              <StepItem row={row} id={`planning-row-${index + 1}`} hasPlan={false} />
            ))}
          </ol>
        </div>
      )}
    </section>
  )
}

function HeadingItem({ heading: { id, text, level } }: { heading: Heading }) {
  return (
    <li class="outline-heading" data-level={level}>
      <a href={`#${id}`}>{text}</a>
    </li>
  )
}

function factsOf({ plan, isBaseline }: StepRow): string[] {
  if (!plan) return ['agent']
  const facts = stepFacts({ ...plan, baseline: false })
  return isBaseline ? [...facts.filter((fact) => !fact.startsWith('proves')), BASELINE] : facts
}

const BASELINE = 'before the work, proves nothing'

function countText({ session }: SessionPageData, rows: readonly StepRow[]): string {
  const work = rows.filter(({ isBaseline }) => !isBaseline)
  if (session.state === 'plan_ready') return `${work.length} to run`
  const count = (wantedState: StepState) => work.filter(({ state }) => state === wantedState).length
  const failed = count('failed')
  return `${count('ok')} of ${work.length} done${failed > 0 ? `, ${failed} failed` : ''}`
}

interface StepItemProps {
  row: StepRow
  id: string
  hasPlan: boolean
  /** Without what every step has: its language. */
  isShort?: boolean
  /** Of the step in the plan, shown in place of its sign. */
  number?: number
}

function StepItem({ row, id, hasPlan, isShort = false, number }: StepItemProps) {
  const { state, plan } = row
  const { word: usual, sign } = STEP_STATES[state]
  const word = row.isBaseline && state === 'ok' ? 'recorded' : usual
  const facts = factsOf(row).slice(plan && isShort ? 1 : 0)
  const more = [row.end, ...facts].filter((text) => text !== '').join(' · ')
  return (
    <li class={`step-row ${state}`} id={id}>
      <span class="step-sign" aria-hidden="true">
        {number || sign}
      </span>
      <div>
        <div class="step-line row">
          {plan && hasPlan ? <a href={`#step-${plan.id}`}>{row.id}</a> : <strong>{row.id}</strong>}
          <span class="step-state small muted">
            {word}
            {row.wentOn ? ' (continued)' : ''}
          </span>
          <span class="step-time small muted">
            {state === 'running' && row.began !== null ? (
              <time class="clock" datetime={row.began} />
            ) : row.durationMs !== null ? (
              spanText(row.durationMs)
            ) : (
              ''
            )}
          </span>
        </div>
        {more !== '' && <div class="muted small">{more}</div>}
      </div>
    </li>
  )
}
