export interface Dialog {
  write(text: string): void
  /** The answer, without spaces around it; null at the end of input. */
  ask(question: string): Promise<string | null>
}

/** Asks until the answer is one of the choices, by number or name. Enter takes `standard`. */
export async function choose<T extends string>(
  choices: readonly T[],
  standard: number,
  { write, ask }: Dialog,
): Promise<T> {
  const numbers = choices.map((_, index) => `${index + 1}`)
  const wanted = [numbers.slice(0, -1).join(', '), numbers.at(-1)].filter(Boolean).join(' or ')
  const names = choices.every((choice, index) => choice === numbers[index])
    ? ''
    : `, or a name (${choices.join(', ')})`
  for (;;) {
    const answer = await ask(`${wanted}? [${standard + 1}] `)
    if (answer === null || answer === '') return choices[standard]!
    const found = choices.find((choice, index) => [numbers[index], choice].includes(answer))
    if (found !== undefined) return found
    write(`Answer with ${wanted}${names}. Enter takes ${standard + 1}.\n`)
  }
}

/** Asks until the answer is yes or no. Enter is a yes, and the end of input a no. */
export async function agrees(question: string, { write, ask }: Dialog): Promise<boolean> {
  for (;;) {
    const answer = await ask(`${question} [Y/n] `)
    if (answer === null || /^no?$/i.test(answer)) return false
    if (answer === '' || /^y(?:es)?$/i.test(answer)) return true
    write('Answer y or n. Enter is yes.\n')
  }
}
