import { visibleProse } from '../../rendering/hidden-characters.ts'
import type { CaseView } from './case-view.ts'

/** The question of a case that needs the operator's input, and the box that answers it. */
export function QuestionNotice({ view: { id, json, broken } }: { view: CaseView }) {
  if (json.state !== 'NEEDS_USER_INPUT' || broken) return null
  return (
    <section
      class="notice question"
      data-kind="warn"
      id="question"
      aria-labelledby="question-title"
    >
      <strong id="question-title">This case needs your answer.</strong>
      <p dir="auto">{json.reason ? visibleProse(json.reason) : 'No question is given.'}</p>
      <form
        class="form needs-script"
        id="answer-form"
        data-send="POST"
        data-focus="#state-title"
        action={`/cases/${id}/answer`}
      >
        <div class="field">
          <label for="answer-text">Your answer</label>
          <textarea id="answer-text" name="text" rows={3} maxlength={20000} required />
          <span class="hint">
            Question and answer stay in the history. The case goes back to the state before.
          </span>
        </div>
        <div class="actions">
          <button type="submit" class="primary">
            Answer
          </button>
        </div>
      </form>
    </section>
  )
}
