// The types of pg are a package apart, of one version.
declare module "pg811" {
  export { default } from "pg";
}
