import { counted, sizeText } from '../../model/amounts.ts'
import { countsAsVerified, type Proof } from '../../model/proof.ts'
import type { Session } from '../../model/session.ts'
import { objectionTo } from '../../model/support.ts'
import { lastOf } from '../../model/trail.ts'
import { DiffView } from '../../rendering/diff/view.tsx'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { proofPage } from '../shell/addresses.ts'
import { Time } from '../shell/time.tsx'
import type { CandidateRow } from './candidate-rows.ts'
import { apiPath } from './plan-forms.tsx'
import type { SessionView } from './session-view.ts'

/** What the steps' reports say, in words and as a bar. */
export function TestResults({ view }: { view: SessionView }) {
  const { tests } = view.session
  if (!tests) return null
  const { run, passed, failed } = tests
  const share = run === 0 ? 0 : (passed / run) * 100
  return (
    <section class="card" id="tests" aria-labelledby="tests-title">
      <h2 id="tests-title">Tests</h2>
      <p data-tone={failed > 0 ? 'bad' : 'good'} class="test-words">
        {run === 0
          ? 'No test was run.'
          : failed === 0
            ? `All ${run} passed.`
            : `${failed} of ${run} failed, ${passed} passed.`}
      </p>
      <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <title>Share of passed tests</title>
        <rect class="bar-passed" x="0" y="0" width={share} height="4" />
        <rect class="bar-failed" x={share} y="0" width={run === 0 ? 0 : 100 - share} height="4" />
      </svg>
    </section>
  )
}

/** Candidates for proof, to attach with one click, and the proof that is attached. */
export function Evidence({ view }: { view: SessionView }) {
  const { candidates, proofs, session } = view
  if (candidates.length === 0 && proofs.length === 0) return null
  return (
    <section class="card" id="evidence" aria-labelledby="evidence-title">
      <h2 id="evidence-title">Proof</h2>
      {proofs.length > 0 && (
        <ul class="proofs">
          {proofs.map((proof) => (
            <li>
              <a href={proofPage(session.case_id, proof.id)}>{proof.type}</a>{' '}
              <ProofWorth proof={proof} sessions={[session]} />{' '}
              <span class="muted small">
                <Time at={proof.created_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {candidates.length > 0 && <h3>Candidates</h3>}
      <ul class="candidates">
        {candidates.map((row) => (
          <CandidateItem row={row} view={view} />
        ))}
      </ul>
    </section>
  )
}

function ProofWorth({ proof, sessions }: { proof: Proof; sessions: readonly Session[] }) {
  const objection = objectionTo(proof, sessions)
  const verified = countsAsVerified(proof)
  const word = verified ? '✓ verified' : 'not verified yet'
  return (
    <span class="small" data-tone={verified && !objection ? 'good' : 'warn'}>
      {objection ? `supports nothing: ${visibleText(objection.text)}` : word}
    </span>
  )
}

function CandidateItem({ row, view }: { row: CandidateRow; view: SessionView }) {
  const { artifact, note, type, size, attached } = row
  const { session } = view
  const canAttach = size !== null && attached === null
  return (
    <li id={`candidate-${artifact}`}>
      <div class="candidate-name">
        {size === null ? (
          <code>{visibleText(artifact)}</code>
        ) : (
          <a href={`${apiPath(view)}/artifacts/${artifact}`} target="_blank" rel="noreferrer">
            <code>{artifact}</code>
          </a>
        )}{' '}
        <span class="muted small">{size === null ? '' : sizeText(size)}</span>
      </div>
      <div class="muted small">{visibleText(note)}</div>
      {attached && (
        <div class="small" data-tone="good">
          ✓ attached as <a href={proofPage(session.case_id, attached.id)}>{attached.type}</a>
        </div>
      )}
      {size === null && <div class="muted small">not on this machine</div>}
      {canAttach && (
        <div class="actions needs-script">
          <form data-send="POST" action={`/cases/${session.case_id}/proof`}>
            <input type="hidden" name="type" value={type} />
            <input type="hidden" name="artifact" value={artifact} />
            <input type="hidden" name="session_id" value={session.id} />
            <button type="submit" class="small-button" aria-label={`Attach: ${artifact}`}>
              Attach
            </button>
          </form>
        </div>
      )}
    </li>
  )
}

/** The files that changed while it ran, largest first, with what changed in them. */
export function ChangedFiles({ view }: { view: SessionView }) {
  const { session, changes } = view
  const taken = lastOf(session.trail, 'diff_taken')
  if (!taken) return null
  const { diff } = session
  const warnings = Array.isArray(taken.fields.first) ? taken.fields.first.map(String) : []
  const more = Number(taken.fields.warnings ?? 0) - warnings.length
  return (
    <section class="card" id="changes" aria-labelledby="changes-title">
      <header>
        <h2 id="changes-title">Changed files</h2>
        {diff && diff.file !== '' && (
          <span class="small">
            {counted(diff.files?.length ?? 1, 'file')},{' '}
            <span class="additions">+{diff.additions}</span>{' '}
            <span class="deletions">−{diff.deletions}</span>
          </span>
        )}
      </header>
      {diff === null && (
        <p class="muted">
          It is not known what changed:{' '}
          {visibleText(String(taken.fields.reason ?? 'no reason is recorded'))}.
        </p>
      )}
      {diff?.file === '' && <p class="muted">Nothing changed in the working folder.</p>}
      {warnings.length > 0 && (
        <div class="notice" data-kind="warn">
          <p>Part of what changed is not here:</p>
          <ul>
            {warnings.map((warning) => (
              <li>{visibleText(warning)}</li>
            ))}
            {more > 0 && <li>and {more} more</li>}
          </ul>
        </div>
      )}
      {changes ? (
        <DiffView files={changes.files} notes={changes.notes} />
      ) : (
        diff && diff.file !== '' && <FileNames diff={diff} />
      )}
    </section>
  )
}

const MAX_FILES = 500

/** Where the patch is on another machine. */
function FileNames({ diff }: { diff: NonNullable<SessionView['session']['diff']> }) {
  const files = [...(diff.files ?? [diff])].sort(
    (a, b) => b.additions + b.deletions - (a.additions + a.deletions),
  )
  return (
    <>
      <ul class="file-names">
        {files.slice(0, MAX_FILES).map(({ file, additions, deletions }) => (
          <li>
            <code>{visibleText(file)}</code> <span class="additions">+{additions}</span>{' '}
            <span class="deletions">−{deletions}</span>
          </li>
        ))}
      </ul>
      {files.length > MAX_FILES && <p class="muted small">and {files.length - MAX_FILES} more</p>}
      <p class="muted small">The patch itself is not on this machine.</p>
    </>
  )
}
