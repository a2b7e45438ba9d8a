import { counted, sizeText } from '../../model/amounts.ts'
import type { ReportCounts } from '../../model/proof.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { proofPage, sessionPage } from '../shell/addresses.ts'
import { AnsiText, groundOf } from './ansi-text.tsx'
import { AttachForm } from './attach-form.tsx'
import { Candidates } from './candidates.tsx'
import type { CaseView } from './case-view.ts'
import { FoldRest } from './fold-rest.tsx'
import { ProofTimes } from './proof-times.tsx'
import type { ProofView } from './proof-view.ts'

const MOST_PROOFS = 10

/** The evidence, newest first, with what may be made evidence. */
export function ProofCard({ view }: { view: CaseView }) {
  const { id, proofs } = view
  return (
    <section class="card" id="proof" aria-labelledby="proof-title">
      <header>
        <h2 id="proof-title">
          Proof <span class="count">{proofs.length}</span>
        </h2>
        <AttachForm view={view} />
      </header>
      <Candidates view={view} />
      {proofs.length === 0 ? (
        <p class="muted">
          None yet. A case is resolved with proof only: a test report, a log, a diff, a note.
        </p>
      ) : (
        <FoldRest
          id="more-proofs"
          items={proofs}
          most={MOST_PROOFS}
          label={`All ${proofs.length} proofs`}
          list={(some) => (
            <ul class="row-list">
              {some.map((view) => (
                <ProofRow id={id} view={view} />
              ))}
            </ul>
          )}
        />
      )}
    </section>
  )
}

function ProofRow({
  id,
  view: { proof, verified, session, shown, whyNot, despite },
}: {
  id: string
  view: ProofView
}) {
  return (
    <li id={`proof-${proof.id}`}>
      <div class="row-main">
        <a href={proofPage(id, proof.id)} data-row>
          {proof.type}
        </a>
        <Verified verified={verified} intact={proof.intact} wasVerified={proof.verified} />
        {!verified && shown && whyNot === null && (
          <VerifyForm id={id} proof={proof.id} etag={shown.etag} />
        )}
      </div>
      {whyNot !== null && (
        <p class="small bad-text">
          Supports nothing: <bdi>{visibleText(whyNot)}</bdi>.{' '}
          <a href={proofPage(id, proof.id)}>Read it</a>
        </p>
      )}
      <Accepted accepted={proof.accepted} despite={despite} />
      <p class="facts">
        {session !== null && <a href={sessionPage(id, session)}>session {session}</a>}
        {shown && <span>{sizeText(shown.size)}</span>}
        {proof.tests && <span>{testsText(proof.tests)}</span>}
        <ProofTimes proof={proof} verified={verified} />
      </p>
      {shown && (
        <pre class={`excerpt ${groundOf(shown.first + shown.last)}`} tabindex={0}>
          <AnsiText text={shown.first} />
          {shown.left > 0 && (
            <>
              <span class="left-out">{counted(shown.left, 'more line')}</span>
              <AnsiText text={shown.last} />
            </>
          )}
        </pre>
      )}
      {shown && !shown.isWhole && (
        <p class="small">
          <a href={proofPage(id, proof.id)}>All of it</a>
        </p>
      )}
    </li>
  )
}

export function testsText({ run, passed }: ReportCounts): string {
  return `${passed} of ${counted(run, 'test')} passed`
}

/** The operator's reason, which stays beside the proof. */
export function Accepted({
  accepted,
  despite,
}: {
  accepted: string | null
  despite: string | null
}) {
  if (accepted === null) return null
  return (
    <p class="small" data-accepted>
      Accepted{despite === null ? '' : ` although ${visibleText(despite)}`}:{' '}
      <bdi>{visibleText(accepted)}</bdi>
    </p>
  )
}

interface VerifiedProps {
  verified: boolean
  intact: boolean
  wasVerified: boolean
}

export function Verified({ verified, intact, wasVerified }: VerifiedProps) {
  if (verified) return <span class="verdict good-text">✓ verified</span>
  if (wasVerified && !intact)
    return <span class="verdict bad-text">changed since it was verified</span>
  return <span class="verdict muted">not verified</span>
}

/**
 * Verifies the content that the page was made of, of which an excerpt may be shown: if it changed since,
 * the service refuses, and where a refresh has brought the change the script asks first.
 */
export function VerifyForm({ id, proof, etag }: { id: string; proof: string; etag: string }) {
  return (
    <form
      class="verify-form needs-script"
      id={`verify-${proof}`}
      data-send="PUT"
      action={`/cases/${id}/proof/${proof}/verify`}
      data-if-match={etag}
      data-focus={`#proof-${proof} a, #proof-head h1`}
    >
      <button type="submit" class="compact">
        Verify
      </button>
    </form>
  )
}
