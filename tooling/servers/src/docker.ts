import { loopback } from "./ports.ts";

/** A container to start: its image, the port that the server inside listens on, and its environment. */
export interface ContainerPlan {
  readonly image: string;
  readonly port: number;
  readonly environment: Record<string, string>;
  /** What runs in it instead of the image's own command. */
  readonly command?: readonly string[] | undefined;
}

/** A running container; testcontainers removes it after a crash of this process. */
export interface RunningContainer {
  readonly host: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a container. Throws at once where no container engine runs. */
export async function startContainer({
  image,
  port,
  environment,
  command,
}: ContainerPlan): Promise<RunningContainer> {
  // Loading it takes a second, which who needs no container should not wait.
  const { GenericContainer, getContainerRuntimeClient } = await import("testcontainers");
  const { containerRuntime } = (await getContainerRuntimeClient()).info;
  const isLocal = ["localhost", loopback].includes(containerRuntime.host);

  class LoopbackContainer extends GenericContainer {
    protected override async beforeContainerCreated(): Promise<void> {
      // Without this Docker publishes the port on every address of the machine.
      if (isLocal) this.hostConfig.PortBindings = { [`${port}/tcp`]: [{ HostIp: loopback, HostPort: "0" }] };
    }
  }
  const prepared = new LoopbackContainer(image).withEnvironment(environment).withExposedPorts(port);
  if (command !== undefined) prepared.withCommand([...command]);
  const container = await prepared.start();
  return {
    host: isLocal ? loopback : container.getHost(),
    port: container.getMappedPort(port),
    async stop() {
      await container.stop();
    },
  };
}
