import { InputField, TextField } from '../shell/field.tsx'

/** What is needed to begin: the rest of a case can be written later. */
export function FirstCaseFields({
  heading,
  isPart = false,
}: {
  heading: string
  /** Of a form that sends something else; its script makes the case. */
  isPart?: boolean
}) {
  return (
    <>
      <div>
        <h2>{heading}</h2>
        <p class="small muted">
          A case is one piece of work with its record: what was wrong, what was planned and
          approved, what was done, and the proof that it works.
        </p>
      </div>
      <InputField
        id="first-title"
        label="What is wrong, or what do you want?"
        hint={isPart && 'Leave it empty to only save the setup.'}
        name={isPart ? undefined : 'title'}
        required={!isPart}
        maxlength={500}
        placeholder="Signed out again right after signing in"
      />
      <TextField
        id="first-description"
        label="Details"
        hint="Optional. What happens, what should happen, how to reproduce it. The plan is written from this."
        name={isPart ? undefined : 'description'}
        rows={4}
        data-empty="omit"
      />
    </>
  )
}
