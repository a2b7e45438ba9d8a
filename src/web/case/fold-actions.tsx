/** The end of a form that unfolds: what it does, and the way back, which folds it. */
export function FoldActions({ submit, primary = false }: { submit: string; primary?: boolean }) {
  return (
    <div class="actions">
      <button type="submit" class={primary ? 'primary' : undefined}>
        {submit}
      </button>
      <button type="reset" class="quiet" data-fold>
        Cancel
      </button>
    </div>
  )
}
