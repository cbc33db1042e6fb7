import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import "./style.css";

// Each request after this one has the session's cookie.
await fetch("/api/session", { method: "POST" });
createRoot(document.getElementById("root") as HTMLElement).render(<App />);
