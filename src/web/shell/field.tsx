import type { Child } from 'hono/jsx'

interface FieldProps {
  /** Of the control; if there is a hint, the control is described by `<id>-hint`. */
  id: string
  label: string
  hint?: Child
  children: Child
}

/** A control with its label. */
export function Field({ id, label, hint, children }: FieldProps) {
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
