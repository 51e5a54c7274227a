/** Words of the leaf components in `src/ui`. */
export default {}
