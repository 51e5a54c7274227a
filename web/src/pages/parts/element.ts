/**
 * Props for a component of Element Plus, whose own types do not hold under strict optional
 * properties. Our components around them have typed props, and are the only ones to use this.
 */
export const loose = (props: object): any => props
