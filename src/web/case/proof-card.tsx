import { hasEnded } from '../../model/session-state.ts'
import { KNOWN_PROOF_TYPES } from '../../model/suggested-values.ts'
import { ProofItem } from '../proof/proof-item.tsx'
import { FormActions, FormDisclosure, ShowMore } from '../shell/disclosure.tsx'
import { Field, InputField, TextField } from '../shell/field.tsx'
import type { CasePageData } from './data.ts'

const MAX_PROOFS = 10

/** The proof of the case, newest first. What sessions left is on their pages. */
export function ProofCard({ data: { gate, proofs } }: { data: CasePageData }) {
  if (proofs.length === 0) return null
  return (
    <section id="proof" aria-labelledby="proof-title">
      <h2 id="proof-title">
        Proof <span class="count">{proofs.length}</span>
      </h2>
      <ShowMore
        id="more-proofs"
        items={proofs}
        limit={MAX_PROOFS}
        label={`All ${proofs.length} proofs`}
        list={(some) => (
          <ul class="row-list">
            {some.map((row) => (
              <ProofItem row={row} gate={gate} />
            ))}
          </ul>
        )}
      />
    </section>
  )
}

/** Proof from pasted text, or from a file, which the script sends byte for byte. */
export function AttachForm({ data: { id, gate, sessions } }: { data: CasePageData }) {
  const missing = gate.items.find((item) => item.required && item.satisfied_by === null)
  const types = new Set([...gate.items.flatMap(({ type }) => type ?? []), ...KNOWN_PROOF_TYPES])
  return (
    <FormDisclosure
      id="attach-proof"
      label="Attach proof"
      formId="attach-form"
      data-send="POST"
      action={`/cases/${id}/proof`}
      data-focus="#proof-{id} a"
    >
      <TextField
        id="proof-content"
        label="Text"
        class="code"
        name="content"
        rows={8}
        spellcheck={false}
        required
        placeholder="Paste a test report, a log or a diff, or describe what you saw"
      />
      <InputField
        id="proof-file"
        label="Or a file"
        hint="UTF-8 text or a picture (PNG, JPEG, WebP, GIF), at most 10 MiB. You can also drop it on Proof, or paste a picture."
        type="file"
      />
      <div class="chosen-file stack" id="chosen-file" data-keep hidden />
      <div class="field-row">
        <InputField
          id="proof-type"
          label="Type"
          name="type"
          value={missing?.type ?? ''}
          data-empty="null"
          placeholder="what it is"
          list="proof-types"
          autocomplete="off"
        />
        <Field id="proof-session" label="Session">
          {/* if left alone, the service takes the newest complete session without proof */}
          <select id="proof-session" name="session_id" data-empty="omit">
            <option value="">Newest complete session without proof, if any</option>
            {sessions
              .filter(({ state }) => hasEnded(state))
              .map(({ id, number, type, state }) => (
                <option value={id}>
                  {number}. {type}, {state}
                </option>
              ))}
          </select>
        </Field>
      </div>
      <FormActions submit="Attach" primary />
      <datalist id="proof-types">
        {[...types].map((type) => (
          <option value={type} />
        ))}
      </datalist>
    </FormDisclosure>
  )
}
