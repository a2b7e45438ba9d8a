import type { CaseView } from './case-view.ts'
import { FoldActions } from './fold-actions.tsx'
import { MendFile } from './mend-file.tsx'
import { Prose } from './prose.tsx'

export function DescriptionCard({ view }: { view: CaseView }) {
  const { id, json, broken } = view
  return (
    <section class="card" id="description" aria-labelledby="description-title">
      <header>
        <h2 id="description-title">Description</h2>
        {broken ? <MendFile id={id} problem={broken} isCompact /> : <DescriptionForm view={view} />}
      </header>
      {json.description.trim() === '' ? (
        <p class="muted">
          {broken ? 'case.md cannot be read, see the problem above.' : 'No description yet.'}
        </p>
      ) : (
        <Prose id={id} text={json.description} under={2} />
      )}
    </section>
  )
}

function DescriptionForm({ view: { id, json, etag } }: { view: CaseView }) {
  return (
    <details class="fold needs-script" id="edit-description" data-close>
      <summary class="button compact" data-key="d" data-key-name="Edit the description">
        Edit
      </summary>
      <form
        class="form"
        id="edit-description-form"
        data-send="PUT"
        action={`/cases/${id}`}
        data-if-match={etag}
        data-conflict={`/cases/${id}`}
        data-only-changed
      >
        <div class="field">
          <label for="description-text">Description, in markdown</label>
          <textarea
            id="description-text"
            class="code"
            name="description"
            rows={14}
            aria-describedby="description-text-hint"
          >
            {`\n${json.description}`}
          </textarea>
          <span class="hint" id="description-text-hint">
            The proof checklist is added to on its own, under "Proof gate".
          </span>
        </div>
        <FoldActions submit="Save" primary />
      </form>
    </details>
  )
}
