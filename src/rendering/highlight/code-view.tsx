import { type Token, tokenClass } from './tokens.ts'

/** Code in colours. The texts of the tokens must be visible ones (`visibleText`). */
export function Code({ tokens }: { tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map(({ text, kind }) => (kind ? <span class={tokenClass(kind)}>{text}</span> : text))}
    </>
  )
}
