import { spanText } from '../../model/amounts.ts'
import { stepFacts } from '../../rendering/markdown/step-figure.ts'
import type { SessionPageData } from './session-data.ts'
import type { StepRow, StepState } from './step-rows.ts'

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

/** The steps with their results and times; the runs that wrote the plan are listed separately. */
export function StepList({ data }: { data: SessionPageData }) {
  const { rows } = data
  if (rows.length === 0) return null
  const planning = rows.filter(({ isPlanning }) => isPlanning)
  const work = rows.filter(({ isPlanning }) => !isPlanning)
  return (
    <section class="card" id="steps" aria-labelledby="steps-title">
      <header>
        <h2 id="steps-title">Steps</h2>
        {work.length > 0 && <span class="muted small">{countText(data, work)}</span>}
      </header>
      {work.length > 0 && (
        <ol
          class="steps"
          id="step-rows"
          tabindex={work.length > MAX_WITHOUT_SCROLLING ? 0 : undefined}
          aria-labelledby="steps-title"
        >
          {work.map((row, index) => (
            <StepItem row={row} id={`row-${index + 1}`} hasPlan={data.query.view === 'rendered'} />
          ))}
        </ol>
      )}
      {planning.length > 0 && (
        <div class="planning-runs">
          <h3 id="planning-title">Before approval</h3>
          <ol
            class="steps"
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

function countText({ session }: SessionPageData, work: readonly StepRow[]): string {
  if (session.state === 'plan_ready') return `${work.length} to run`
  const count = (wantedState: StepState) => work.filter(({ state }) => state === wantedState).length
  const failed = count('failed')
  return `${count('ok')} of ${work.length} done${failed > 0 ? `, ${failed} failed` : ''}`
}

function StepItem({ row, id, hasPlan }: { row: StepRow; id: string; hasPlan: boolean }) {
  const { state, plan } = row
  const { word, sign } = STEP_STATES[state]
  const facts = plan ? stepFacts(plan) : ['agent']
  return (
    <li class={`step-row ${state}`} id={id}>
      <span class="step-sign" aria-hidden="true">
        {sign}
      </span>
      <div>
        <div class="step-line">
          {plan && hasPlan ? <a href={`#step-${row.id}`}>{row.id}</a> : <strong>{row.id}</strong>}
          <span class="step-state">
            {word}
            {row.wentOn ? ' (continued)' : ''}
          </span>
          <span class="step-time">
            {state === 'running' && row.began !== null ? (
              <time class="clock" datetime={row.began} />
            ) : row.durationMs !== null ? (
              spanText(row.durationMs)
            ) : (
              ''
            )}
          </span>
        </div>
        <div class="muted small">
          {[row.end, ...facts].filter((text) => text !== '').join(' · ')}
        </div>
      </div>
    </li>
  )
}
