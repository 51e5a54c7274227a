/**
 * Props for a component of Element Plus, whose own types do not hold under strict optional
 * properties. Our components around them have typed props, and are the only ones to use this.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- there is no other type that fits all their props
export const loose = (props: object): any => props
