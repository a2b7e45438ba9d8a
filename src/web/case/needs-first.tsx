import { counted } from '../../model/amounts.ts'
import type { Problem } from '../../model/problem.ts'
import { remedyOf } from '../../model/problem-remedies.ts'
import { failedStep, failureText } from '../../model/session-failure.ts'
import { PlanAgain } from '../session/plan-again.tsx'
import { sessionPage } from '../shell/addresses.ts'
import { Time } from '../shell/time.tsx'
import type { CaseView } from './case-view.ts'
import { placeOf } from './record-file.ts'

/** The plans that wait for the operator. */
export function PlanNotices({ view: { id, sessions } }: { view: CaseView }) {
  return (
    <>
      {sessions
        .filter(({ state }) => state === 'plan_ready')
        .map(({ number, type, provider, trail, started_at }) => (
          <div class="notice plan-waits" data-kind="warn" id={`plan-waits-${number}`}>
            <div>
              <strong>The plan of session {number} waits for your approval.</strong>
              <p class="small muted">
                {type}, planned by {provider}, <Time at={trail.at(-1)?.time ?? started_at} />.
                Nothing of it runs before.
              </p>
            </div>
            <a class="button primary" href={sessionPage(id, number)} data-key="a">
              Read the plan
            </a>
          </div>
        ))}
    </>
  )
}

/** The newest session, where it failed and nothing came after it. */
export function FailureNotice({ view: { id, unanswered, againObjection } }: { view: CaseView }) {
  const session = unanswered
  if (!session) return null
  const { number, type, provider, trail, started_at } = session
  const step = failedStep(trail)
  return (
    <div class="notice plan-waits" data-kind="bad" id="failed-session">
      <div>
        <strong>
          Session {number} failed: {failureText(session)}.
        </strong>
        <p class="small muted">
          {type}, by {provider}, <Time at={trail.at(-1)?.time ?? started_at} />.{' '}
          {step && (
            <>
              Failed step: <a href={`${sessionPage(id, number)}#output`}>{step.id}</a>.{' '}
            </>
          )}
          Plan again starts a new session with this failure in its note. Set another state to
          dismiss it.
        </p>
      </div>
      <div class="actions">
        <PlanAgain session={session} objection={againObjection} />
        <a class="button" href={`${sessionPage(id, number)}#output`}>
          Show the output
        </a>
      </div>
    </div>
  )
}

/** What is wrong with the files, where, and what to do about it. */
export function ProblemsCard({ view: { id, json, broken } }: { view: CaseView }) {
  if (json.problems.length === 0) return null
  return (
    <section class="card problems" aria-labelledby="problems-title">
      <header>
        <h2 id="problems-title">{counted(json.problems.length, 'problem')}</h2>
      </header>
      {broken && (
        <p>
          While case.md cannot be read, what it says is shown as it was last read, or is missing
          here, and none of it can be changed on this page.
        </p>
      )}
      <ul class="case-problems">
        {json.problems.map((problem) => (
          <li>
            <p>
              <Place id={id} problem={problem} />{' '}
              <span class="tag" title="The code of the problem">
                {problem.code}
              </span>
            </p>
            <p class="problem-message">{problem.message}</p>
            <p class="small muted">What to do: {remedyOf(problem.code)}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Place({ id, problem }: { id: string; problem: Problem }) {
  const { file, line } = problem
  const text = `${file === '.' ? 'The folder of the case' : file}${line === null ? '' : `, line ${line}`}`
  const address = placeOf(id, problem)
  return address ? <a href={address}>{text}</a> : <strong>{text}</strong>
}
