import { yieldIfBusy } from '../../files/yielding.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { serializeProof } from '../../http/serializers.ts'
import { sizeText } from '../../model/amounts.ts'
import { isClosed } from '../../model/attention.ts'
import { type CaseFolder, gateOf, shownState } from '../../model/case-folder.ts'
import { pictureText } from '../../model/picture.ts'
import { countsAsVerified, type Proof } from '../../model/proof.ts'
import { acceptedDespite, type Objection, objectionTo } from '../../model/support.ts'
import { readPatch } from '../../rendering/diff/patch.ts'
import { type DiffLayout, showDiff } from '../../rendering/diff/shown-diff.ts'
import { DiffView } from '../../rendering/diff/view.tsx'
import { visibleText } from '../../rendering/hidden-characters.ts'
import type { PageAssets } from '../assets.ts'
import {
  casePage,
  changesOf,
  changesPage,
  pathTo,
  proofPage,
  proofPicture,
  proofText,
  sessionPage,
} from '../shell/addresses.ts'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { Field } from '../shell/field.tsx'
import { Page } from '../shell/page.tsx'
import { ProblemsList } from '../shell/problems.tsx'
import { Tabs } from '../shell/tabs.tsx'
import { AnsiBox } from '../shell/text-box.tsx'
import { proofEtag } from './data.ts'
import { earlierPicture, isPicture, PictureComparison, PictureContent } from './picture.tsx'
import { AcceptedReason, ProofTimes, testsText, Verdict, VerifyForm } from './proof-parts.tsx'
import { loadContentTests } from './report-data.ts'
import { TestTree } from './test-tree.tsx'
import { FailedTests } from './tests-card.tsx'

interface ProofPageProps {
  service: HttpDeps
  assets: PageAssets
  folder: CaseFolder
  proof: Proof
  /** Of a proof that is a diff. */
  layout: DiffLayout
  /** A report is shown as its text instead of its tests. */
  isRaw: boolean
}

/** One proof with its content. */
export async function ProofPage(props: ProofPageProps) {
  const { service, assets, folder, proof, layout, isRaw } = props
  const { id, title } = folder.case
  const json = await serializeProof(service, folder, proof)
  const etag = await proofEtag(json)
  const session = folder.sessions.find((each) => each.id === proof.session_id)
  const verified = countsAsVerified(proof)
  const objection = objectionTo(proof, folder.sessions)
  const report = await loadContentTests(service.layout, folder, json.content)
  await yieldIfBusy()
  const files = [`proof/${proof.id}.md`, `artifacts/${proof.image?.name}`]
  const problems = folder.problems.filter(({ file }) => files.includes(file))
  const before = isPicture(proof) ? earlierPicture(folder, proof) : null
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
          {proof.tests && <span>{testsText(proof.tests)}</span>}
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
          despite={acceptedDespite(proof, folder.sessions)}
        />
        {!verified && <VerifyForm proof={proof} etag={etag} />}
      </div>
      {objection && objection.code !== 'changed' && (
        <AcceptForm proof={proof} objection={objection} etag={etag} />
      )}
      {verified && !objection && <NextStep folder={folder} />}
      <FailedTests
        reports={report ? [report] : []}
        failedTests={proof.failed_tests}
        counts={proof.tests}
      />
      <ProblemsList caseId={id} problems={problems} />
      {report && (
        <Tabs
          label="View of the report"
          tabs={[
            { label: 'Tests', href: proofPage(id, proof.id), isCurrent: !isRaw },
            { label: 'Raw', href: `${proofPage(id, proof.id)}?view=raw`, isCurrent: isRaw },
          ]}
        />
      )}
      {report && !isRaw ? (
        !report.tests.some(({ outcome }) => outcome === 'failed') && (
          <section class="card" id="proof-tests" aria-label="Tests of the report">
            <TestTree report={report} id="tests" limit={MAX_TESTS} isOpen />
          </section>
        )
      ) : (
        <section class="card" id="proof-content" aria-label="Content of the proof">
          {isPicture(proof) ? (
            <PictureContent proof={proof} />
          ) : (
            <Content proof={proof} content={json.content} layout={layout} />
          )}
        </section>
      )}
      {isPicture(proof) && before && <PictureComparison before={before} after={proof} />}
    </Page>
  )
}

/** What comes after a proof is verified: to resolve the case, or what is still missing. */
function NextStep({ folder }: { folder: CaseFolder }) {
  const { open, missing } = gateOf(folder)
  if (isClosed(shownState(folder))) return null
  const page = casePage(folder.case.id)
  return (
    <div class="notice with-actions" id="proof-next">
      {open ? (
        <strong>Proof requirements are met: the case can be resolved.</strong>
      ) : (
        <div>
          <strong>Still missing before the case can be resolved:</strong>
          <ul>
            {missing.map((what) => (
              <li>{visibleText(what)}</li>
            ))}
          </ul>
        </div>
      )}
      <a class="button" href={`${page}${open ? '#state' : '#proof'}`}>
        {open ? 'Go to Resolve' : 'Go to the proof'}
      </a>
    </div>
  )
}

/** Longer reports are shown in part. */
const MAX_TESTS = 1000

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
          <Field
            id="accept-reason"
            label="Why accept it anyway?"
            hint="The reason is shown with the proof."
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

/** A longer content is shown in part: its beginning, and its end, where reports sum up. */
const [FIRST, LAST] = [64 * 1024, 32 * 1024]
const MAX_PATCH = 2 * 1024 * 1024

/** Whether a proof is shown as a diff. */
export function isShownAsDiff(content: string): boolean {
  return /^diff --git /.test(content) && content.length <= MAX_PATCH
}

interface ContentProps {
  proof: Proof
  content: string
  layout: DiffLayout
}

/** A diff as a diff, with its text below; anything else as a terminal shows it. */
async function Content({ proof, content, layout }: ContentProps) {
  const page = proofPage(proof.case_id, proof.id)
  const text = <TextContent content={content} plainText={proofText(proof.case_id, proof.id)} />
  if (!isShownAsDiff(content)) return text
  const diff = await showDiff(readPatch(content), { layout })
  return (
    <>
      <div id="changes">
        <DiffView diff={diff} address={page} changes={changesPage(page)} />
      </div>
      <details>
        <summary>Text of the diff</summary>
        {text}
      </details>
    </>
  )
}

interface TextContentProps {
  content: string
  /** The URL of the content as plain text. */
  plainText: string
}

function TextContent({ content, plainText }: TextContentProps) {
  if (content.length <= FIRST + LAST) return <AnsiBox label="Content" text={content} />
  const left = Buffer.byteLength(content.slice(FIRST, -LAST))
  return (
    <>
      <AnsiBox label="Beginning of the content" text={content.slice(0, FIRST).toWellFormed()} />
      <p class="notice">
        {sizeText(left)} in the middle are not shown. <a href={plainText}>Show all</a> as plain
        text.
      </p>
      <AnsiBox label="End of the content" text={content.slice(-LAST).toWellFormed()} />
    </>
  )
}
