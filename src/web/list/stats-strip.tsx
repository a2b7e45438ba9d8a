import { numberText, spanText } from '../../model/amounts.ts'
import type { SessionDurations } from '../../model/session-durations.ts'
import { NEED_LABELS } from '../../model/state-groups.ts'
import type { Stats } from '../../model/stats.ts'
import { SessionBar } from '../../rendering/charts/session-bar.tsx'
import { WeekBars } from '../../rendering/charts/week-bars.tsx'
import { casePage } from '../shell/addresses.ts'
import { Time } from '../shell/time.tsx'

/** One line about what waits and how runs went; unfolded, the numbers by agent and week. Nothing without either. */
export function StatsStrip({ stats }: { stats: Stats }) {
  const { waiting, runs, agents, medians } = stats
  if (waiting.length === 0 && runs === 0) return null
  const total = weekTotals(stats)
  return (
    <details class="stats" id="stats">
      <summary>
        {waiting.length > 0 && <WaitingText waiting={waiting} />}
        {runs > 0 && (
          <>
            <WeekBars weeks={total} most={mostOf(total)} />
            <span>
              <strong>
                {numberText(runs)} {runs === 1 ? 'run' : 'runs'}
              </strong>{' '}
              in 8 weeks, {share(stats)} passed
            </span>
            <MedianText medians={medians} />
          </>
        )}
      </summary>
      <div class="stats-details">
        {waiting.length > 0 && <WaitingTable waiting={waiting} />}
        {agents.length > 0 && <RunsTable stats={stats} />}
      </div>
    </details>
  )
}

function WaitingText({ waiting }: Pick<Stats, 'waiting'>) {
  const count = waiting.reduce((sum, each) => sum + each.count, 0)
  const oldest = waiting.reduce((a, b) => (a.oldest_since < b.oldest_since ? a : b))
  return (
    <span>
      <strong>
        {numberText(count)} {count === 1 ? 'case needs' : 'cases need'} you
      </strong>
      , the oldest <Time at={oldest.oldest_since} as="waiting" />
    </span>
  )
}

function MedianText({ medians }: { medians: SessionDurations }) {
  const parts = [
    ['planned', medians.planned_ms],
    ['waited', medians.waited_ms],
    ['ran', medians.ran_ms],
  ] as const
  const shown = parts.flatMap(([word, ms]) => (ms === null ? [] : [`${word} ${spanText(ms)}`]))
  if (shown.length === 0) return null
  return <span class="muted">Median: {shown.join(' │ ')}</span>
}

function WaitingTable({ waiting }: Pick<Stats, 'waiting'>) {
  return (
    <table class="stats-table">
      <caption>What needs you</caption>
      <thead>
        <tr>
          <th scope="col">Need</th>
          <th scope="col">Cases</th>
          <th scope="col">Oldest</th>
        </tr>
      </thead>
      <tbody>
        {waiting.map(({ kind, count, oldest_since, oldest_case_id }) => (
          <tr>
            <th scope="row">{NEED_LABELS[kind]}</th>
            <td>{numberText(count)}</td>
            <td>
              <a href={casePage(oldest_case_id)}>
                <Time at={oldest_since} as="waiting" />
              </a>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Each cell says `passed of runs` in words for screen readers, and as a bar with numbers. */
function RunsTable({ stats: { weeks, agents } }: { stats: Stats }) {
  const most = Math.max(...agents.map(({ by_week }) => mostOf(by_week)))
  return (
    <section class="stats-scroll" tabindex={0} aria-labelledby="stats-runs">
      <table class="stats-table runs">
        <caption id="stats-runs">
          Runs that passed, by agent and week
          <span class="stats-legend" aria-hidden="true">
            <WeekBars weeks={[{ runs: 1, passed: 1 }]} most={1} /> passed
            <WeekBars weeks={[{ runs: 1, passed: 0 }]} most={1} /> failed
          </span>
        </caption>
        <thead>
          <tr>
            <th scope="col">Agent</th>
            {weeks.map((week) => (
              <th scope="col">
                <span class="visually-hidden">Week of </span>
                {week.slice(5)}
              </th>
            ))}
            <th scope="col">8 weeks</th>
            <th scope="col">Median times</th>
          </tr>
        </thead>
        <tbody>
          {agents.map((agent) => (
            <tr>
              <th scope="row">{agent.provider}</th>
              {agent.by_week.map((week) => (
                <td>
                  {week.runs > 0 && (
                    <>
                      <WeekBars weeks={[week]} most={most} />
                      {week.passed}
                      <span class="visually-hidden"> of </span>
                      <span aria-hidden="true">/</span>
                      {week.runs}
                    </>
                  )}
                </td>
              ))}
              <td>
                {agent.passed} of {agent.runs}, {share(agent)}
              </td>
              <td>
                <SessionBar durations={agent.medians} /> <MedianText medians={agent.medians} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function weekTotals({ weeks, agents }: Stats) {
  return weeks.map((_, index) => ({
    runs: agents.reduce((sum, { by_week }) => sum + by_week[index]!.runs, 0),
    passed: agents.reduce((sum, { by_week }) => sum + by_week[index]!.passed, 0),
  }))
}

function mostOf(weeks: readonly { runs: number }[]): number {
  return Math.max(1, ...weeks.map(({ runs }) => runs))
}

function share({ runs, passed }: { runs: number; passed: number }): string {
  return `${Math.round((100 * passed) / runs)}%`
}
