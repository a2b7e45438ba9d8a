import { Field } from '../shell/field.tsx'

/** What is needed to begin: the rest of a case can be written later. */
export function FirstCaseFields({ heading }: { heading: string }) {
  return (
    <>
      <div>
        <h2>{heading}</h2>
        <p class="small muted">
          A case is one piece of work with its record: what was wrong, what was planned and
          approved, what was done, and the proof that it works.
        </p>
      </div>
      <Field id="first-title" label="What is wrong, or what do you want?">
        <input
          id="first-title"
          name="title"
          required
          maxlength={500}
          placeholder="Signed out again right after signing in"
        />
      </Field>
      <Field
        id="first-description"
        label="Details"
        hint="Optional. What happens, what should happen, how to reproduce it. The plan is written from this."
      >
        <textarea
          id="first-description"
          name="description"
          rows={4}
          data-empty="omit"
          aria-describedby="first-description-hint"
        />
      </Field>
    </>
  )
}
