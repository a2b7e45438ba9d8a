/** Upper-case words of a case's state as people read them. */
export function stateText(state: string): string {
  if (state === 'WONT_FIX') return 'Won’t fix'
  const words = state.toLowerCase().replaceAll('_', ' ')
  return words[0]!.toUpperCase() + words.slice(1)
}

/** The state of a case or a session; its colour is given by the style sheet, its meaning by the word. */
export function StateBadge({ state }: { state: string }) {
  return (
    <span class="state" data-state={state}>
      {stateText(state)}
    </span>
  )
}
