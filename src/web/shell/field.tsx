import type { Child } from 'hono/jsx'

interface FieldProps {
  /** Of the control, which with a hint names `<id>-hint` as what describes it. */
  id: string
  label: string
  hint?: string
  children: Child
}

/** A labelled control. */
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
