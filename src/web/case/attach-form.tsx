import { KNOWN_PROOF_TYPES } from '../../model/known-words.ts'
import type { Session } from '../../model/session.ts'
import { isOver } from '../../model/session-state.ts'
import { Field } from '../shell/field.tsx'
import type { CaseView } from './case-view.ts'
import { FoldActions } from './fold-actions.tsx'

/** Proof by pasted text, or by a file, which the script reads and sends with its own line ends. */
export function AttachForm({ view: { id, gate, sessions } }: { view: CaseView }) {
  const wanted = gate.items.find((item) => item.required && item.satisfied_by === null)
  return (
    <details class="fold needs-script" id="attach-proof" data-close>
      <summary class="button compact" data-key="p">
        Attach proof
      </summary>
      <form
        class="form"
        id="attach-form"
        data-send="POST"
        action={`/cases/${id}/proof`}
        data-proof
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
            placeholder="Paste a test report, a log, a diff, or say what you have seen"
          />
        </Field>
        <Field id="proof-file" label="Or a file" hint="Text in UTF-8, at most 10 MiB">
          <input type="file" id="proof-file" aria-describedby="proof-file-hint" data-proof-file />
        </Field>
        <div class="chosen-file" data-chosen data-keep hidden />
        <div class="field-row">
          <Field id="proof-type" label="Type">
            <input
              id="proof-type"
              name="type"
              value={wanted?.type ?? 'test-log'}
              list="proof-types"
              required
              autocomplete="off"
            />
          </Field>
          <Field id="proof-session" label="Of session">
            <SessionChoice sessions={sessions} />
          </Field>
        </div>
        <FoldActions submit="Attach" primary />
      </form>
      <datalist id="proof-types">
        {[...new Set([...gate.items.map(({ type }) => type), ...KNOWN_PROOF_TYPES])].map(
          (type) => type && <option value={type} />,
        )}
      </datalist>
    </details>
  )
}

/** Left alone, the service takes the newest complete session that has no proof. */
function SessionChoice({ sessions }: { sessions: readonly Session[] }) {
  return (
    <select id="proof-session" name="session_id" data-empty="omit">
      <option value="">the newest complete one without proof, if any</option>
      {sessions
        .filter(({ state }) => isOver(state))
        .map(({ id, number, type, state }) => (
          <option value={id}>
            {number}. {type}, {state}
          </option>
        ))}
    </select>
  )
}
