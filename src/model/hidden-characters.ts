/**
 * What a reader does not see, or sees elsewhere than it stands: controls, invisible and format characters, line and
 * paragraph ends, blanks other than the space. Both consoles show these where he decides by a text.
 */
export const HIDDEN_CHARACTERS = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu
