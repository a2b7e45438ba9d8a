import { yieldIfBusy } from '../../files/yielding.ts'
import { caseStatus } from '../../http/case-status.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { serializeProof } from '../../http/serializers.ts'
import { sizeText } from '../../model/amounts.ts'
import { type CaseContents, gateOf } from '../../model/case-contents.ts'
import { pictureText } from '../../model/picture.ts'
import { countsAsVerified, type Proof } from '../../model/proof.ts'
import { acceptedDespite, type Objection, objectionTo } from '../../model/proof-objections.ts'
import type { DiffLayout } from '../../rendering/diff/shown-diff.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import type { PageAssets } from '../assets.ts'
import {
  changesOf,
  pathTo,
  proofPage,
  proofPicture,
  proofText,
  sessionPage,
} from '../shell/addresses.ts'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { InputField } from '../shell/field.tsx'
import { StatusBanner } from '../shell/next-act.tsx'
import { Page } from '../shell/page.tsx'
import { ProblemsList } from '../shell/problems.tsx'
import { Tabs } from '../shell/tabs.tsx'
import { proofEtag } from './data.ts'
import { earlierPicture, isPicture, PictureComparison } from './picture.tsx'
import { TextContent } from './proof-text.tsx'
import {
  AcceptedReason,
  countsText,
  Meets,
  ProofTimes,
  Verdict,
  VerifyForm,
} from './proof-verdict.tsx'
import { ProofWhole, proofContent } from './proof-view.tsx'
import { loadContentTests } from './report-data.ts'
import { FailedTests } from './tests-card.tsx'

interface ProofPageProps {
  service: HttpDeps
  assets: PageAssets
  contents: CaseContents
  proof: Proof
  /** Of a proof that is a diff. */
  layout: DiffLayout
  /** A report or a diff is shown as its text. */
  isRaw: boolean
}

/** One proof with its content. */
export async function ProofPage(props: ProofPageProps) {
  const { service, assets, contents, proof, layout, isRaw } = props
  const { id, title } = contents.case
  const json = await serializeProof(service, contents, proof)
  const etag = await proofEtag(json)
  const session = contents.sessions.find((each) => each.id === proof.session_id)
  const verified = countsAsVerified(proof)
  const objection = objectionTo(proof, contents.sessions)
  const report = await loadContentTests(service.layout, contents, json.content)
  const content = proofContent(json.content, report)
  const hasRaw = content.kind !== 'text' && !isPicture(proof)
  const hasFailed = report?.tests.some(({ outcome }) => outcome === 'failed') === true
  const page = proofPage(id, proof.id)
  await yieldIfBusy()
  const status = await caseStatus(service, contents, null)
  const files = [`proof/${proof.id}.md`, `artifacts/${proof.image?.name}`]
  const problems = contents.problems.filter(({ file }) => files.includes(file))
  const before = isPicture(proof) ? earlierPicture(contents, proof) : null
  return (
    <Page title={`${proof.type}: ${title}`} assets={assets} live={changesOf(id)}>
      <div class="record-head" id="proof-head">
        <Breadcrumbs above={pathTo(id, title)} current="Proof" />
        <h1 tabindex={-1}>{proof.type}</h1>
        <p class="facts">
          <Verdict proof={proof} verified={verified} />
          {session && (
            <a href={sessionPage(id, session.number)}>
              session {session.number}, {session.type}
            </a>
          )}
          {proof.tests && <span>{countsText(proof.tests)}</span>}
          {isPicture(proof) ? (
            <>
              <span>
                {pictureText(proof.image)}, {sizeText(proof.image.bytes)}
              </span>
              <a href={proofPicture(proof)}>Open the picture</a>
            </>
          ) : (
            <>
              <span>{sizeText(Buffer.byteLength(json.content))}</span>
              <a href={proofText(id, proof.id)}>View as plain text</a>
            </>
          )}
          <ProofTimes proof={proof} verified={verified} />
        </p>
        {proof.sha256 && (
          <p class="facts">
            <span>
              SHA-256 of the {proof.image ? 'picture' : 'content'}:{' '}
              <code class="hash">{proof.sha256}</code>
            </span>
          </p>
        )}
        <AcceptedReason
          accepted={proof.accepted}
          despite={acceptedDespite(proof, contents.sessions)}
        />
        {!objection && <Meets proof={proof} verified={verified} gate={gateOf(contents)} />}
      </div>
      <StatusBanner
        caseId={id}
        status={status}
        here={proofPage(id, proof.id)}
        beside={!verified && <VerifyForm proof={proof} etag={etag} />}
      />
      {objection && objection.code !== 'changed' && (
        <AcceptForm proof={proof} objection={objection} etag={etag} />
      )}
      <FailedTests
        reports={report ? [report] : []}
        failedTests={proof.failed_tests}
        counts={proof.tests}
      />
      <ProblemsList caseId={id} problems={problems} />
      {hasRaw && (
        <Tabs
          label="View of the proof"
          tabs={[
            { label: NAMES[content.kind], href: page, isCurrent: !isRaw },
            { label: 'Raw', href: `${page}?view=raw`, isCurrent: isRaw },
          ]}
        />
      )}
      {!(hasFailed && !isRaw) && (
        <section class="card" id="proof-content" aria-label="Content of the proof">
          {isRaw && hasRaw ? (
            <TextContent content={json.content} plainText={proofText(id, proof.id)} />
          ) : (
            <ProofWhole proof={proof} content={content} layout={layout} />
          )}
        </section>
      )}
      {isPicture(proof) && before && <PictureComparison before={before} after={proof} />}
    </Page>
  )
}

/** Longer reports are shown in part. */
const NAMES = { tests: 'Tests', diff: 'Changes', text: 'Text' }

interface AcceptFormProps {
  proof: Proof
  objection: Objection
  etag: string
}

/** Why the proof doesn't count, and the form to accept it anyway. */
function AcceptForm({ proof, objection, etag }: AcceptFormProps) {
  const { code, text, remedy } = objection
  const isAcceptable = code !== 'empty' && code !== 'not_counted'
  return (
    <div class="notice" data-tone="bad" id="proof-objection">
      <p>
        <strong>This proof doesn't count: {visibleText(text)}.</strong> Verifying it doesn't change
        that. To go on, {remedy}.
      </p>
      {isAcceptable && (
        <form
          class="form verify-form needs-script stack"
          id={`accept-${proof.id}`}
          data-send="PUT"
          action={`/cases/${proof.case_id}/proof/${proof.id}/verify`}
          data-if-match={etag}
          data-focus="#proof-head h1"
        >
          <InputField
            id="accept-reason"
            label="Why accept it anyway?"
            hint="The reason is shown with the proof."
            name="accept"
            required
            maxlength={2000}
            autocomplete="off"
          />
          <div class="actions">
            <button type="submit">Accept with this reason</button>
          </div>
        </form>
      )}
    </div>
  )
}
