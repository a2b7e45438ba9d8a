import { directionOf } from '../../rendering/direction.ts'
import { visibleProse, visibleText } from '../../rendering/hidden-characters.ts'

interface IsolatedProps {
  text: string
  /** It names somebody or something: all hidden characters show. */
  isName?: boolean
  class?: string
}

/** A text of others within a line, which has its own direction and leaves that of the line alone. */
export function Isolated({ text, isName = false, class: name }: IsolatedProps) {
  return (
    <bdi class={name} dir={directionOf(text)}>
      {isName ? visibleText(text) : visibleProse(text)}
    </bdi>
  )
}
