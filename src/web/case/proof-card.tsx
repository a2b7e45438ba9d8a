import { counted, sizeText } from '../../model/amounts.ts'
import { KNOWN_PROOF_TYPES } from '../../model/known-words.ts'
import { pictureText } from '../../model/picture.ts'
import { isOver } from '../../model/session-state.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { Candidates } from '../proof/candidate-list.tsx'
import type { ProofExcerpt, ProofRow } from '../proof/data.ts'
import { isPicture, Thumbnail } from '../proof/picture.tsx'
import {
  AcceptedReason,
  ProofTimes,
  testsText,
  Verdict,
  VerifyForm,
} from '../proof/proof-parts.tsx'
import { proofPage, sessionPage } from '../shell/addresses.ts'
import { FormActions, FormDisclosure, ShowMore } from '../shell/disclosure.tsx'
import { Field } from '../shell/field.tsx'
import { AnsiText, TextBox, terminalClass } from '../shell/text-box.tsx'
import type { CasePageData } from './data.ts'

const MAX_PROOFS = 10

/** The proof of the case, newest first, and results of sessions that can be attached as proof. */
export function ProofCard({ data }: { data: CasePageData }) {
  const { id, proofs, candidates, gate } = data
  const attachable = candidates.filter(({ attached, size }) => attached === null && size !== null)
  return (
    <section class="card" id="proof" aria-labelledby="proof-title">
      <header>
        <h2 id="proof-title">
          Proof <span class="count">{proofs.length}</span>
        </h2>
        <AttachForm data={data} />
      </header>
      {attachable.length > 0 && (
        <section class="offer stack" id="candidates" aria-labelledby="candidates-title">
          <h3 id="candidates-title">From sessions</h3>
          <Candidates
            candidates={attachable}
            gate={gate}
            namesSession={new Set(attachable.map(({ session }) => session.id)).size > 1}
          />
        </section>
      )}
      {proofs.length === 0 ? (
        <p class="muted">
          None yet. Resolving a case needs proof: a test report, a log, a diff, a picture or a note.
        </p>
      ) : (
        <ShowMore
          id="more-proofs"
          items={proofs}
          limit={MAX_PROOFS}
          label={`All ${proofs.length} proofs`}
          list={(some) => (
            <ul class="row-list">
              {some.map((row) => (
                <ProofItem id={id} row={row} />
              ))}
            </ul>
          )}
        />
      )}
    </section>
  )
}

function ProofItem({ id, row }: { id: string; row: ProofRow }) {
  const { proof, verified, session, content, objection, acceptedDespite } = row
  return (
    <li id={`proof-${proof.id}`}>
      <div class="row-main">
        <a href={proofPage(id, proof.id)} data-row>
          {proof.type}
        </a>
        <Verdict proof={proof} verified={verified} />
        {!verified && content && objection === null && (
          <VerifyForm proof={proof} etag={content.etag} />
        )}
      </div>
      {objection !== null && (
        <p class="small bad-text">
          Doesn't count: <bdi dir={directionOf(objection)}>{visibleText(objection)}</bdi>.{' '}
          <a href={proofPage(id, proof.id)}>
            Review<span class="visually-hidden"> {proof.type}</span>
          </a>
        </p>
      )}
      <AcceptedReason accepted={proof.accepted} despite={acceptedDespite} />
      <p class="facts">
        {session !== null && <a href={sessionPage(id, session)}>session {session}</a>}
        {proof.image && <span>{pictureText(proof.image)}</span>}
        {content && <span>{sizeText(proof.image?.bytes ?? content.size)}</span>}
        {proof.tests && <span>{testsText(proof.tests)}</span>}
        <ProofTimes proof={proof} verified={verified} />
      </p>
      {isPicture(proof) && <Thumbnail proof={proof} />}
      {content && !proof.image && <Excerpt content={content} label={`Excerpt of ${proof.type}`} />}
      {content && !content.isComplete && (
        <p class="small">
          <a href={proofPage(id, proof.id)}>
            Show all<span class="visually-hidden"> of {proof.type}</span>
          </a>
        </p>
      )}
    </li>
  )
}

function Excerpt({ content, label }: { content: ProofExcerpt; label: string }) {
  const { first, left, last } = content
  return (
    <TextBox label={label} class={`excerpt ${terminalClass(first + last)}`}>
      <AnsiText text={first} />
      {left > 0 && (
        <>
          <span class="left-out">{counted(left, 'more line')}</span>
          <AnsiText text={last} />
        </>
      )}
    </TextBox>
  )
}

/** Proof from pasted text, or from a file, which the script sends byte for byte. */
function AttachForm({ data: { id, gate, sessions } }: { data: CasePageData }) {
  const missing = gate.items.find((item) => item.required && item.satisfied_by === null)
  const types = new Set([...gate.items.flatMap(({ type }) => type ?? []), ...KNOWN_PROOF_TYPES])
  return (
    <FormDisclosure id="attach-proof" label="Attach proof" shortcut="p" isSmall>
      <form
        class="form"
        id="attach-form"
        data-send="POST"
        action={`/cases/${id}/proof`}
        data-focus="#proof-{id} a"
      >
        <Field id="proof-content" label="Text">
          <textarea
            id="proof-content"
            class="code"
            name="content"
            rows={8}
            spellcheck={false}
            required
            placeholder="Paste a test report, a log or a diff, or describe what you saw"
          />
        </Field>
        <Field
          id="proof-file"
          label="Or a file"
          hint="UTF-8 text or a picture (PNG, JPEG, WebP, GIF), at most 10 MiB. You can also drop it on Proof, or paste a picture."
        >
          <input type="file" id="proof-file" aria-describedby="proof-file-hint" />
        </Field>
        <div class="chosen-file stack" id="chosen-file" data-keep hidden />
        <div class="field-row">
          <Field id="proof-type" label="Type">
            <input
              id="proof-type"
              name="type"
              value={missing?.type ?? ''}
              data-empty="null"
              placeholder="what it is"
              list="proof-types"
              autocomplete="off"
            />
          </Field>
          <Field id="proof-session" label="Session">
            {/* if left alone, the service takes the newest complete session without proof */}
            <select id="proof-session" name="session_id" data-empty="omit">
              <option value="">Newest complete session without proof, if any</option>
              {sessions
                .filter(({ state }) => isOver(state))
                .map(({ id, number, type, state }) => (
                  <option value={id}>
                    {number}. {type}, {state}
                  </option>
                ))}
            </select>
          </Field>
        </div>
        <FormActions submit="Attach" primary />
      </form>
      <datalist id="proof-types">
        {[...types].map((type) => (
          <option value={type} />
        ))}
      </datalist>
    </FormDisclosure>
  )
}
