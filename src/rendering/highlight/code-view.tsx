import { cutAtWordsFromRight } from '../direction.ts'
import { visibleName } from '../hidden-characters.ts'
import { type Token, tokenClass } from './tokens.ts'

/** Code in colours. The texts of the tokens must be visible ones (`visibleText`). */
export function Code({ tokens }: { tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map(({ text, kind }) =>
        kind ? (
          <span class={tokenClass(kind)}>
            <CodeText text={text} />
          </span>
        ) : (
          <CodeText text={text} />
        ),
      )}
    </>
  )
}

/** The name of a file, a folder or a branch. */
export function CodeName({ name }: { name: string }) {
  return (
    <code>
      <CodeText text={visibleName(name)} />
    </code>
  )
}

export function CodeText({ text }: { text: string }) {
  const pieces = cutAtWordsFromRight(text)
  return <>{pieces.map((piece, index) => (index % 2 === 1 ? <bdi>{piece}</bdi> : piece))}</>
}
