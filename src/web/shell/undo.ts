/** How the console takes back what a form does, as JSON in `data-undo`. client/undo.tsx sends it. */
export interface Undo {
  /** What the form did. */
  said: string
  method: 'PUT' | 'POST' | 'DELETE'
  action: string
  body?: Record<string, unknown>
}

export function undoAttribute(undo: Undo): string {
  return JSON.stringify(undo)
}
