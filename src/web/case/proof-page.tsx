import type { HttpDeps } from '../../http/deps.ts'
import { serializeProof } from '../../http/serializers.ts'
import { sizeText } from '../../model/amounts.ts'
import type { CaseFolder } from '../../model/case-folder.ts'
import { failedTestPlace } from '../../model/failed-test.ts'
import { countsAsVerified, type Proof } from '../../model/proof.ts'
import { acceptedDespite, type Objection, objectionTo } from '../../model/support.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import type { Assets } from '../assets.ts'
import { CASES, casePage, changesOf, proofText, sessionPage } from '../shell/addresses.ts'
import { Field } from '../shell/field.tsx'
import { Page } from '../shell/page.tsx'
import { Accepted, testsText, Verified, VerifyForm } from './proof-card.tsx'
import { ProofContent } from './proof-content.tsx'
import { ProofTimes } from './proof-times.tsx'
import { proofEtag } from './proof-view.ts'

interface ProofPageProps {
  service: HttpDeps
  assets: Pick<Assets, 'href'>
  folder: CaseFolder
  proof: Proof
}

/** One proof with its content. */
export async function ProofPage({ service, assets, folder, proof }: ProofPageProps) {
  const { id, title } = folder.case
  const json = await serializeProof(service, folder, proof)
  const session = folder.sessions.find((each) => each.id === proof.session_id)
  const verified = countsAsVerified(proof)
  const objection = objectionTo(proof, folder.sessions)
  const despite = acceptedDespite(proof, folder.sessions)
  const live = changesOf(id)
  return (
    <Page title={`${proof.type}: ${title}`} assets={assets} kind="proof" live={live}>
      <div class="record-head" id="proof-head">
        <nav class="crumbs" aria-label="Where this is">
          <a href={CASES}>Cases</a> / <a href={casePage(id)}>{title}</a> / proof
        </nav>
        <h1 tabindex={-1}>{proof.type}</h1>
        <p class="facts">
          <Verified verified={verified} intact={proof.intact} wasVerified={proof.verified} />
          {session && (
            <a href={sessionPage(id, session.number)}>
              session {session.number}, {session.type}
            </a>
          )}
          {proof.tests && <span>{testsText(proof.tests)}</span>}
          <span>{sizeText(Buffer.byteLength(json.content))}</span>
          <a href={proofText(id, proof.id)}>as plain text</a>
          <ProofTimes proof={proof} verified={verified} />
        </p>
        {proof.sha256 && (
          <p class="facts">
            <span>
              SHA-256 of the content: <code class="hash">{proof.sha256}</code>
            </span>
          </p>
        )}
        <Accepted accepted={proof.accepted} despite={despite} />
        {!verified && <VerifyForm id={id} proof={proof.id} etag={proofEtag(json)} />}
      </div>
      {objection && objection.code !== 'changed' && (
        <Objected id={id} proof={proof} objection={objection} etag={proofEtag(json)} />
      )}
      <FailedTests proof={proof} />
      <Problems folder={folder} proof={proof} />
      <section class="card" id="proof-content" aria-label="The content">
        <ProofContent content={json.content} address={proofText(id, proof.id)} />
      </section>
    </Page>
  )
}

interface ObjectedProps {
  id: string
  proof: Proof
  objection: Objection
  etag: string
}

/** Why the proof opens no gate, and the way to accept it all the same. */
function Objected({ id, proof, objection, etag }: ObjectedProps) {
  const { code, text, remedy } = objection
  const isAcceptable = code !== 'empty' && code !== 'not_counted'
  return (
    <div class="notice" data-kind="bad" id="proof-objection">
      <p>
        <strong>This proof supports nothing: {visibleText(text)}.</strong> It opens no gate, whether
        it is verified or not. To go on, {remedy}.
      </p>
      {isAcceptable && (
        <form
          class="form verify-form needs-script"
          id={`accept-${proof.id}`}
          data-send="PUT"
          action={`/cases/${id}/proof/${proof.id}/verify`}
          data-if-match={etag}
          data-focus="#proof-head h1"
        >
          <Field
            id="accept-reason"
            label="Why does it count all the same?"
            hint="The reason stays beside the proof."
          >
            <input
              id="accept-reason"
              name="accept"
              aria-describedby="accept-reason-hint"
              required
              maxlength={2000}
              autocomplete="off"
            />
          </Field>
          <div class="actions">
            <button type="submit">Accept with this reason</button>
          </div>
        </form>
      )}
    </div>
  )
}

function FailedTests({ proof: { tests, failed_tests } }: { proof: Proof }) {
  if (failed_tests.length === 0) return null
  const more = (tests?.failed ?? 0) - failed_tests.length
  return (
    <section class="card" id="failed-tests" aria-labelledby="failed-tests-title">
      <h2 id="failed-tests-title">Failed tests</h2>
      <ul class="plain-list">
        {failed_tests.map(({ name, message, ...place }) => (
          <li>
            <strong>
              <bdi>{visibleText(name)}</bdi>
            </strong>
            {failedTestPlace(place) !== null && (
              <>
                {' '}
                <code>{visibleText(failedTestPlace(place) ?? '')}</code>
              </>
            )}
            {message !== null && <p class="small">{visibleText(message)}</p>}
          </li>
        ))}
      </ul>
      {more > 0 && <p class="small muted">and {more} more</p>}
    </section>
  )
}

function Problems({ folder, proof }: { folder: CaseFolder; proof: Proof }) {
  const found = folder.problems.filter(({ file }) => file === `proof/${proof.id}.md`)
  return (
    <>
      {found.map(({ message }) => (
        <p class="notice" data-kind="bad">
          {message}
        </p>
      ))}
    </>
  )
}
