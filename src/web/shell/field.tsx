import type { Child, JSX } from 'hono/jsx'

interface FieldProps {
  /** Of the control; if there is a hint, the control is described by `<id>-hint`. */
  id: string
  label: string
  hint?: Child
}

/** A control with its label. */
export function Field({ id, label, hint, children }: FieldProps & { children: Child }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  )
}

/** A field of one line. */
export function InputField(props: FieldProps & JSX.IntrinsicElements['input']) {
  const { label, hint, ...attributes } = props
  const { id } = attributes
  return (
    <Field id={id} label={label} hint={hint}>
      <input {...attributes} aria-describedby={hint ? `${id}-hint` : undefined} />
    </Field>
  )
}

/** A field of several lines, with the text that it begins with. */
export function TextField(
  props: FieldProps & JSX.IntrinsicElements['textarea'] & { text?: string | undefined },
) {
  const { label, hint, text, ...attributes } = props
  const { id } = attributes
  return (
    <Field id={id} label={label} hint={hint}>
      <textarea {...attributes} aria-describedby={hint ? `${id}-hint` : undefined}>
        {text && `\n${text}`}
      </textarea>
    </Field>
  )
}
