import { counted } from '../../model/amounts.ts'
import { comparedParts, placeText, testsBeforeText } from '../../model/before-run-text.ts'
import { capital } from '../../model/one-line.ts'
import {
  foldRefused,
  refusedActions,
  refusedCount,
  refusedText,
} from '../../model/refused-actions.ts'
import { describeTrigger, describeUnchecked } from '../../model/runs-later.ts'
import { callResult, outOfScopeCalls, outOfScopeFiles } from '../../model/scope.ts'
import { runName } from '../../model/session-usage.ts'
import { lastOf } from '../../model/trail.ts'
import { usageText, usageTotal } from '../../model/usage.ts'
import { visibleName, visibleText } from '../../rendering/hidden-characters.ts'
import { Candidates } from '../proof/candidate-list.tsx'
import { ProofItem } from '../proof/proof-item.tsx'
import { sessionPage } from '../shell/addresses.ts'
import { Fact, FileNames } from '../shell/facts.tsx'
import { Isolated } from '../shell/isolated.tsx'
import type { SessionPageData } from './data.ts'

/** Which tests failed before the work, and what changed. */
function BeforeAndAfter({ before }: { before: SessionPageData['json']['tests_before'] }) {
  if (before === null) return null
  const { compared } = before
  return (
    <div id="tests-before">
      <p class="small">{capital(testsBeforeText(before))}</p>
      {compared &&
        comparedParts(compared).map(({ kind, words, count, names }) => (
          <details open={kind !== 'fixed' && kind !== 'still'}>
            <summary class={kind === 'fixed' ? 'good-text' : kind === 'still' ? '' : 'bad-text'}>
              {count} {words}
            </summary>
            <ul class="file-names stack">
              {names.map((name) => (
                <li>{visibleName(name)}</li>
              ))}
            </ul>
            {count > names.length && <p class="muted small">and {count - names.length} more</p>}
          </details>
        ))}
      {compared?.is_cut && <p class="muted small">Not all tests could be compared by name.</p>}
    </div>
  )
}

/** What was in the working folder before the first step. */
export function BaseCard({ data }: { data: SessionPageData }) {
  const { base } = data.json
  if (base === null) return null
  const { uncommitted, files, left_by, is_cut } = base
  if (uncommitted === null || uncommitted === 0) return null
  return (
    <section class="card" id="base" aria-labelledby="base-title">
      <h2 id="base-title">Before the first step</h2>
      <p class="small">
        {capital(placeText(base))}. {is_cut ? 'More than ' : ''}
        {counted(uncommitted, 'file')} in the folder {uncommitted === 1 ? 'was' : 'were'} not
        committed. What they contain is not in the diff of this session.
      </p>
      {left_by.map(({ case_id, number, title, state, files: left }) => (
        <p class="small">
          {counted(left, 'file')} from{' '}
          <a href={sessionPage(case_id, number)}>
            session {number} of <Isolated text={title} />
          </a>{' '}
          ({visibleText(state)})
        </p>
      ))}
      <details>
        <summary>{counted(files.length, 'file')}</summary>
        <FileNames names={files} more={uncommitted - files.length} />
      </details>
    </section>
  )
}

/** Files that other programs may run later, outside the sandbox. */
export function LaterCard({ data }: { data: SessionPageData }) {
  const { findings } = data.json
  const { runs_later: places, runs_later_more: more, runs_later_artifact: all } = findings
  const unchecked = describeUnchecked(lastOf(data.session.trail, 'runs_later')?.fields)
  if (places.length === 0 && unchecked === '') return null
  return (
    <section class="card" id="runs-later" aria-labelledby="runs-later-title">
      <h2 id="runs-later-title">Runs later</h2>
      <p class="muted small">
        The run added, changed or removed these files. Other programs may run them later, outside
        the sandbox. Review them before you work in this folder.
      </p>
      <ul class="file-names stack">
        {places.map((place) => (
          <li>
            <code>{visibleText(place.file)}</code>{' '}
            <span class="small">{describeTrigger(place)}</span>
          </li>
        ))}
      </ul>
      {more > 0 && (
        <p class="muted small">
          and {more} more, all in <code>artifacts/{all}</code>
        </p>
      )}
      {unchecked !== '' && <p class="muted small">{unchecked}</p>}
    </section>
  )
}

/** Changes that the approved plan did not allow. */
export function OutOfScope({ data }: { data: SessionPageData }) {
  const { trail } = data.session
  const files = outOfScopeFiles(trail)
  const calls = outOfScopeCalls(trail)
  if (files.length + calls.length === 0) return null
  const fields = lastOf(trail, 'out_of_scope')?.fields
  const more = typeof fields?.more === 'number' ? fields.more : 0
  return (
    <section class="card" id="out-of-scope" aria-labelledby="out-of-scope-title">
      <h2 id="out-of-scope-title">Outside the scope</h2>
      {files.length > 0 && (
        <p class="bad-text">
          {counted(files.length + more, 'file')} outside the scope of the plan changed during the
          run.
        </p>
      )}
      <FileNames names={files} more={more} />
      <ul class="failed-tests">
        {calls.map((call) => (
          <li>
            <strong>{visibleText(refusedText(call))}</strong>
            <span class={call.ran ? 'bad-text' : 'muted small'}> {callResult(call)}</span>
            <p class="test-message">{visibleText(call.reason)}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Actions of the agent that were refused. They may explain an unexpected result. */
export function RefusedActions({ data }: { data: SessionPageData }) {
  const { plan, work, first } = refusedActions(data.session.trail)
  if (plan + work === 0) return null
  const more = plan + work - first.length
  return (
    <section class="card" id="refused-actions" aria-labelledby="refused-actions-title">
      <h2 id="refused-actions-title">Denied actions</h2>
      <p class="muted small">
        {refusedCount(plan + work)}
        {plan > 0 && `, ${plan} of them during planning`}.
      </p>
      <ul class="failed-tests stack">
        {foldRefused(first).map(({ action, times }) => (
          <li>
            <strong>{visibleText(refusedText(action))}</strong>
            {times > 1 && <span class="muted small"> {times} times</span>}
            <p class="test-message">{visibleText(action.reason)}</p>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="muted small">{more} more: see the audit trail.</p>}
    </section>
  )
}

/** Its tests, its proof, and the files that can be attached as proof. */
export function Evidence({ data }: { data: SessionPageData }) {
  const { candidates, proofs, gate } = data
  const before = data.json.tests_before
  if (candidates.length === 0 && proofs.length === 0 && before === null) return null
  return (
    <section class="card" id="evidence" aria-labelledby="evidence-title">
      <h2 id="evidence-title">{proofs.length > 0 ? 'Proof' : 'Results'}</h2>
      <BeforeAndAfter before={before} />
      {proofs.length > 0 && (
        <ul class="row-list">
          {proofs.map((row) => (
            <ProofItem row={row} gate={gate} isFolded />
          ))}
        </ul>
      )}
      <Candidates candidates={candidates} gate={gate} />
    </section>
  )
}

/** Which models the agent used, and how much, run by run. */
export function UsageCard({ data }: { data: SessionPageData }) {
  const { usage } = data.json
  const sum = usageTotal(usage)
  const total = usageText(sum)
  if (usage.every((run) => usageText(run) === '')) return null
  return (
    <section class="card" id="usage" aria-labelledby="usage-title">
      <h2 id="usage-title">Usage</h2>
      <dl class="fact-list">
        {usage.map((run, index) => (
          <Fact label={runName(usage, index)}>
            {visibleText(usageText(run)) || <span class="muted">not reported</span>}
          </Fact>
        ))}
        {usage.length > 1 && total !== '' && (
          <Fact label="Total">
            <strong>{total}</strong>
          </Fact>
        )}
      </dl>
      {sum.cost_usd !== null && (
        <p class="muted small">
          The cost is the agent's own estimate. With a subscription it is not what you pay.
        </p>
      )}
    </section>
  )
}
