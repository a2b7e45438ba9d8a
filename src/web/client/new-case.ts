/** The form is not shown before the script runs, so the browser gives its first field no focus. */
export function startNewCase(): void {
  if (document.body.dataset.page !== 'new-case' || document.activeElement !== document.body) return
  document.querySelector<HTMLElement>('#new-title')?.focus()
}
