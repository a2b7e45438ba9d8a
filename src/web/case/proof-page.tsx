import type { HttpNeeds } from '../../http/needs.ts'
import { proofJson } from '../../http/present.ts'
import { sizeText } from '../../model/amounts.ts'
import type { CaseFolder } from '../../model/case-folder.ts'
import { countsAsVerified, type Proof } from '../../model/proof.ts'
import type { Assets } from '../assets.ts'
import { CASES, casePage, changesOf, proofText, sessionPage } from '../shell/addresses.ts'
import { Page } from '../shell/page.tsx'
import { Verified, VerifyForm } from './proof-card.tsx'
import { ProofContent } from './proof-content.tsx'
import { ProofTimes } from './proof-times.tsx'
import { proofEtag } from './proof-view.ts'

interface ProofPageProps {
  service: HttpNeeds
  assets: Pick<Assets, 'href'>
  folder: CaseFolder
  proof: Proof
}

/** One proof with its content. */
export async function ProofPage({ service, assets, folder, proof }: ProofPageProps) {
  const { id, title } = folder.case
  const json = await proofJson(service, proof)
  const session = folder.sessions.find((each) => each.id === proof.session_id)
  const verified = countsAsVerified(proof)
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
        {!verified && <VerifyForm id={id} proof={proof.id} etag={proofEtag(json)} />}
      </div>
      <Problems folder={folder} proof={proof} />
      <section class="card" id="proof-content" aria-label="The content">
        <ProofContent content={json.content} address={proofText(id, proof.id)} />
      </section>
    </Page>
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
