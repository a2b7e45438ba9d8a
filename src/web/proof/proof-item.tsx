import { sizeText } from '../../model/amounts.ts'
import type { Gate } from '../../model/gate.ts'
import { pictureText } from '../../model/picture.ts'
import { proofPage, sessionPage } from '../shell/addresses.ts'
import { Isolated } from '../shell/isolated.tsx'
import type { ProofRow } from './data.ts'
import { AcceptedReason, countsText, Meets, ProofTimes, Verdict } from './proof-verdict.tsx'
import { ProofShort } from './proof-view.tsx'

interface ProofItemProps {
  row: ProofRow
  gate: Gate
  /** On the page of its session, which shows the tests and the diff already. */
  isFolded?: boolean
}

/** A proof in a list: what it is worth, and what it shows. */
export function ProofItem({ row, gate, isFolded = false }: ProofItemProps) {
  const { proof, verified, session, content, objection, acceptedDespite } = row
  const { id, case_id, type } = proof
  const page = proofPage(case_id, id)
  const shown = content && <ProofShort proof={proof} excerpt={content.excerpt} />
  return (
    <li id={`proof-${id}`} class="stack">
      <div class="row-main">
        <a href={page} data-row>
          {type}
        </a>
        <Verdict proof={proof} verified={verified} />
        {objection === null && <Meets proof={proof} verified={verified} gate={gate} />}
      </div>
      {objection !== null && (
        <p class="small bad-text">
          Doesn't count: <Isolated text={objection} />.{' '}
          <a href={page}>
            Review<span class="visually-hidden"> {type}</span>
          </a>
        </p>
      )}
      <AcceptedReason accepted={proof.accepted} despite={acceptedDespite} />
      <p class="facts">
        {session !== null && !isFolded && (
          <a href={sessionPage(case_id, session)}>session {session}</a>
        )}
        {proof.image && <span>{pictureText(proof.image)}</span>}
        {content && <span>{sizeText(proof.image?.bytes ?? content.size)}</span>}
        {proof.tests && <span>{countsText(proof.tests)}</span>}
        <ProofTimes proof={proof} verified={verified} />
        {content && !proof.image && (
          <a href={`${page}?view=raw`}>
            {content.excerpt.isComplete ? 'Raw' : 'Show all'}
            <span class="visually-hidden"> of {type}</span>
          </a>
        )}
      </p>
      {isFolded && shown ? (
        <details id={`shown-${id}`}>
          <summary>What it shows</summary>
          {shown}
        </details>
      ) : (
        shown
      )}
    </li>
  )
}
